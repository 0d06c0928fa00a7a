"""Memory with idle SMTP connections. Mailpit refuses beyond 1,000 and then has no value."""

from ..blast import blast
from ..plan import Plan
from ..rest import Failed
from ..rows import Results
from ..servers import SYSTEMS


def measure(plan: Plan, results: Results) -> None:
    count = plan.pick(5_000, 500)
    for name in plan.rounds_of(plan.systems):
        with SYSTEMS[name]() as server:
            report = blast(server, "--idle-connections", count, "--hold", plan.pick(5, 1))
            results.note("idle", name, report=report)
            if report["idle"]["aliveAfterHold"] == count:
                results.add("memory-idle", name, report["server"]["rssKib"] * 1024 / 1e6)
            elif name == "trapline":
                raise Failed(f"{report['idle']} {report['errors']}")
