"""``dfopt trace``: converts traces, and makes instances and traces of schedules from them."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Any

from typer import BadParameter

from dfopt.files import write_instance
from dfopt.files.storage import shown_name
from dfopt.problem.instance import Objective
from dfopt.structs import Positive, replace
from dfopt_cli.failures import naming, usage
from dfopt_cli.input_files import (
    labelled_if_possible,
    labelled_trace,
    named,
    named_trace,
    names_of,
    read_solved,
    tell_source,
)
from dfopt_cli.options import (
    InstanceArgument,
    OutputOption,
    ResultArgument,
    read_by,
)
from dfopt_cli.printing import check_output, say
from dfopt_cli.trace_options import LabelOptions, ModelOptions, TraceArgument, model_choice

Limit = Annotated[Any, read_by("dfopt.compare.written_times:parse_limit")]


def convert(
    source: TraceArgument,
    output: str,
    *,
    begin: Limit = None,
    end: Limit = None,
    labels: LabelOptions,
    model: ModelOptions,
) -> None:
    """Write a trace, or a part of it, in another format.

    The ending of OUT says which. It gets the labels that 'dfopt compare' would take, if there are
    any; --df takes others. The labels are those of the whole trace. Of a part, only dispatches that
    lie in it as a whole are kept; who was woken before it, and still waits, is woken at its
    beginning. Options about costs and objective go into the header of a dfopt-trace/1, and Perfetto
    shows what the switches cost so far.

    Example: dfopt trace convert perf.txt part.jsonl.gz --df labels.csv --from 10ms --to 30ms

    Arguments
    ---------
    output : OUT
        Where to write it: dfopt-trace/1 (.jsonl), Perfetto (.pftrace) or Chrome (.json).

    Options
    -------
    begin : --from TIME
        Leave out what is before this time after the beginning of the trace: 500us, 10ms, or a
        number in the trace's own unit. Behind an @ stands a time of the trace's own clock, in
        seconds as perf and ftrace print them: @14510.651211.
    end : --to TIME
        Leave out what is after this time, written in the same way.
    """
    from dfopt.compare.cost_model_choice import with_costs
    from dfopt.compare.paid import realised_costs
    from dfopt.compare.written_times import part_of
    from dfopt.trace.formats import write_trace

    choice = model_choice(model)
    refuse_unwritable(output, source)
    trace, labels_from = labelled_if_possible(source, labels)
    if labels.source is None:
        tell_source(source, labels_from)
    trace = named(trace, *names_of([source]))
    with naming(source):
        trace = part_of(trace, begin, end)
        trace, costs = with_costs(trace, choice)
        paid = None if costs is None else realised_costs(trace, costs)
    write_trace(trace, output, costs=paid)


def refuse_unwritable(output: str, *inputs: str | None) -> None:
    """Refuse a trace that could not be written, before the work is done."""
    from dfopt.trace.formats import writer_of

    writer_of(output)
    check_output(output, *inputs)


def to_instance(
    trace: TraceArgument,
    *,
    output: OutputOption,
    labels: LabelOptions,
    model: ModelOptions,
    each: bool = False,
    by_run_time: bool = False,
    window: Annotated[Any, read_by("dfopt.compare.written_times:parse_window")] = None,
    number: Positive | None = None,
) -> None:
    """Make an instance of the dispatches of a trace.

    Its tasks are the managed dispatches. Its optimum is the bound that 'dfopt compare' gives for
    the whole trace, or for that window.

    Example: dfopt trace to-instance trace.txt --df labels.csv -o tasks.json

    Options
    -------
    each
        Make every dispatch a task of its own; by default equal ones are one task with a count.
    by_run_time
        Give each task the run time of its dispatch as its size, and CPUs the capacity of the one
        that ran longest.
    window : W
        Take one window of this length: 100, 10ms; see --number.
    number : I
        Which window, from 1.
    """
    from dfopt.compare.cost_model_choice import chosen_model
    from dfopt.compare.to_instance import trace_instance, trace_window

    if (window is None) != (number is None):
        raise BadParameter("--window and --number belong together; give both")
    choice = model_choice(model)
    # The costs have no makespan as objective; only the instance has.
    timed = choice.objective is Objective.MAKESPAN
    if timed:
        choice = replace(choice, objective=Objective.TOTAL_PENALTY)
    check_output(output, trace)
    subject = named_trace(trace, labels)
    with naming(trace):
        costs = chosen_model(choice, subject.header)
        if window is not None and number is not None:
            subject, costs = trace_window(subject, costs, window, number)
        problem = trace_instance(
            subject,
            costs,
            objective=Objective.MAKESPAN if timed else None,
            each=each,
            by_run_time=by_run_time,
        )
    write_instance(problem, output)


def from_result(instance: InstanceArgument, result: ResultArgument, output: OutputOption) -> None:
    """Write the schedule of a result as a trace.

    Trace viewers open it. The ending of FILE tells the format, as for 'dfopt trace convert'.

    Example: dfopt trace from-result instance.json result.json -o schedule.pftrace
    """
    from dfopt.trace.formats import write_trace
    from dfopt.trace.from_schedule import schedule_costs, trace_from_schedule

    refuse_unwritable(output, instance, result)
    subject, schedule, method = read_solved(instance, result)
    with naming(result):
        trace = trace_from_schedule(subject, schedule, policy=method)
        costs = schedule_costs(subject, schedule)
    write_trace(trace, output, costs=costs)


def label(trace: TraceArgument, *, output: OutputOption, labels: LabelOptions) -> None:
    """Write which fragment each thread of a trace uses.

    It is a CSV file. You can look at it and edit it, and 'dfopt compare TRACE --df FILE' reads it.
    Labels that are inferred from wakeups come with a confidence.

    Example: dfopt trace label trace.txt --df wakeups -o labels.csv
    """
    if labels.labels_out is not None:
        raise BadParameter("--labels-out is what -o says here; give one")
    labelled_trace(trace, replace(labels, labels_out=output))


CONDITION = re.compile(r"(?P<column>.+?)\s*(?P<sign>!?=)\s*(?P<value>.*)")


def conditions_of(texts: list[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return by column the values of ``COLUMN=VALUE``, and of ``COLUMN!=VALUE``.

    Any other text is wrong usage.
    """
    wanted: dict[str, list[str]] = {}
    unwanted: dict[str, list[str]] = {}
    for text in texts:
        found = CONDITION.fullmatch(text.strip())
        if found is None:
            raise BadParameter(
                f"{text!r} is neither COLUMN=VALUE, such as status=200, nor COLUMN!=VALUE",
                param_hint="--where",
            )
        values = wanted if found["sign"] == "=" else unwanted
        values.setdefault(found["column"], []).append(found["value"])
    return wanted, unwanted


def import_requests(
    log: str,
    *,
    df: str,
    output: OutputOption,
    task: str | None = None,
    arrival: str | None = None,
    start: str | None = None,
    end: str | None = None,
    duration: str | None = None,
    queued: str | None = None,
    cpu: str | None = None,
    cpus: Positive | None = None,
    where: list[str] | None = None,
    time_unit: str | None = None,
    duration_unit: str | None = None,
    load_time: str | None = None,
    load_times: str | None = None,
    load_included: bool = False,
) -> None:
    """Make a trace of a log of requests.

    They may be those to models on GPUs. Give two of --start, --end and --duration; with --arrival
    or --queued, waits are known. Or give --arrival, --duration and --cpus: then 'dfopt simulate
    run-queue' makes the schedule, by policies.

    Example: dfopt trace import requests.csv --task id --df model --start started --end ended
    --time-unit s -o trace.jsonl

    Arguments
    ---------
    log : FILE
        A CSV file, a request a line.

    Options
    -------
    df : COLUMN
        Column: the fragment, such as the model.
    cpus
        Number of CPUs or GPUs.
    where : COLUMN=VALUE
        Take only requests with this value, such as status=200, or without it: status!=429. May be
        given several times: for one column either value will do, and none that is not wanted.

    Columns of the log
    ------------------
    task : COLUMN
        Column: the request; by default the line's number.
    arrival : COLUMN
        Column: when the request came.
    start : COLUMN
        Column: when its work began.
    end : COLUMN
        Column: when its work ended.
    duration : COLUMN
        Column: how long its work took; with --end gives the start.
    queued : COLUMN
        Column: how long it waited; with an arrival gives the start, with a start the arrival.
    cpu : COLUMN
        Column: the CPU or GPU; by default the first that is free.

    Times and loads
    ---------------
    time_unit : UNIT
        Unit of times that are numbers, if their column's name does not end with one as start_s
        does: s, ms, us or ns.
    duration_unit : UNIT
        Unit of durations and of times in the queue; by default that in the column's name, or
        --time-unit.
    load_time : T
        What a change of fragment costs: the time of a load, with a unit (25s, 2500ms) or a number
        of --time-unit.
    load_times : CSV
        A CSV file with a line of names, and then a fragment and its load time, with a unit as other
        durations have it, on each line.
    load_included
        Durations include loads: take the load time off the beginning of each request that is the
        first on its CPU or follows another fragment. It needs --cpu or --cpus 1.
    """
    from dfopt.trace.formats import write_trace
    from dfopt.trace.request_log import (
        RequestColumns,
        parse_load_time,
        read_request_log,
    )

    if load_time is not None and load_times is not None:
        raise BadParameter("--load-time and --load-times exclude each other; give one")
    if load_included and load_time is None and load_times is None:
        raise BadParameter("--load-included needs --load-time or --load-times")
    wanted, unwanted = conditions_of(where or [])
    loads: str | int | None = load_times
    if load_time is not None:
        loads = usage(partial(parse_load_time, load_time, time_unit), "--load-time")
    refuse_unwritable(output, log, load_times)
    with naming(log):
        columns = RequestColumns(
            df=df, task=task, arrival=arrival, start=start, end=end, duration=duration,
            queued=queued, cpu=cpu,
        )  # fmt: skip
        trace = read_request_log(
            log,
            columns,
            time_unit=time_unit,
            duration_unit=duration_unit,
            cpus=cpus,
            load_times=loads,
            load_included=load_included,
            where=wanted,
            where_not=unwanted,
        )
    if not columns.has_starts:
        say(
            f"{shown_name(log)}: has no starts; the trace serves requests as they come, without "
            "load times: run it under policies with 'dfopt simulate run-queue'"
        )
    write_trace(trace, output)
