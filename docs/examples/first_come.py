"""A space-sharing policy: processors go to the job that came first, and are never preempted."""

from dfopt_models.space_sharing import AllocationPolicy


class FirstCome(AllocationPolicy):
    """Serve jobs in the order of their arrival, with processors that no other job uses."""

    name = "first-come"

    def arrived(self, engine, job):
        self.wants(engine, job)

    def wants(self, engine, job):
        idle = [p for other in engine.jobs if other is not job for p in other.idle]
        for processor in [*engine.free, *idle][: job.wants]:
            engine.give(processor, job)

    def yields(self, engine, job, processor):
        for other in engine.jobs:
            if other.wants:
                engine.give(processor, other)
                return

    def ended(self, engine, job):
        for other in list(engine.jobs):
            self.wants(engine, other)
