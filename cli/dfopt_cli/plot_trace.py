"""``dfopt plot trace``: a trace as a Gantt chart."""

from __future__ import annotations

from typing import Annotated

import typer

from dfopt_cli.cost_options import CostOptions, cost_choice, model_instance
from dfopt_cli.failures import naming
from dfopt_cli.options import DomainsOption, PictureOption, domains_of, with_option_groups
from dfopt_cli.output_files import check_output
from dfopt_cli.part_hint import fragments_elsewhere
from dfopt_cli.part_options import limits_of, times_in
from dfopt_cli.trace_files import labelled_and_source, named, names_of, tell_source, tell_warnings
from dfopt_cli.trace_options import LabelOptions, TraceArgument


@with_option_groups
def trace(
    trace_file: TraceArgument,
    *,
    output: PictureOption,
    begin: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Draw from this time after the beginning of the trace: 500us, 10ms, or a number "
            "in the trace's own unit. Behind an @ stands a time of the trace's own clock, in "
            "seconds as perf and ftrace print them: @14510.651211.",
        ),
    ] = "0",
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="Draw up to this time, written in the same way; by default to the end of the "
            "trace.",
            show_default=False,
        ),
    ] = None,
    domains: DomainsOption = None,
    labels: LabelOptions,
    costs: CostOptions,
) -> None:
    """Draw a recorded or simulated trace as a Gantt chart.

    CPUs are rows, fragments colours. A dispatch begins hatched for as long as its switch costs, if
    the trace or an option says what switches cost; the hatching stands before the start where a
    trace says that lengths do not include switches. Lines lead along migrations. Where dispatches
    are too short to be told apart, the height of a colour is its share of the time. With --domains
    the CPUs of each cache domain stand together, with its name beside them.

    Example: dfopt plot trace trace.txt --df tgid --from 20ms --to 22ms -o trace.svg
    """
    from dfopt.compare.cost_model_choice import with_costs
    from dfopt.compare.realised import realised_costs
    from dfopt.plot import check_picture_name, plot_trace, save_picture

    check_picture_name(output)
    check_output(output, trace_file)
    limits = limits_of(begin, end)
    in_domains = domains_of(domains)
    choice, instance = cost_choice(costs), model_instance(costs)
    labelled = labelled_and_source(trace_file, labels)
    subject = labelled.trace
    if labels.source is None:
        tell_source(trace_file, labelled.source)
    tell_warnings(trace_file, subject.quality.warnings)
    subject = named(subject, *names_of([trace_file]))
    elsewhere = None
    with naming(trace_file):
        subject, model = with_costs(subject, choice, instance=instance)
        is_time = model is not None and not model.counts_switches
        first, last = times_in(subject, limits)
        if last is not None:
            elsewhere = fragments_elsewhere(subject, first or 0, last)
        axes = plot_trace(
            subject,
            realised_costs(subject, model) if is_time and model is not None else None,
            begin=first or 0,
            end=last,
            domains=in_domains,
        )
    if elsewhere is not None:
        tell_warnings(trace_file, [elsewhere])
    save_picture(axes, output)
