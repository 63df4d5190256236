"""The software bill of materials of a release, as CycloneDX JSON: ``python .ci/sbom.py > sestra.cdx.json``, or ``make sbom``.

It lists sestra and everything that it needs with the extras that are installed, as the environment has them: versions, licences, and who
depends on whom.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement


def installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def requirements(found: Distribution, extras: set[str]) -> list[Requirement]:
    """What a distribution needs here, with these of its extras."""
    every = [Requirement(line) for line in found.requires or ()]
    return [each for each in every if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in {"", *extras})]


def component(found: Distribution, kind: str = "library") -> dict[str, Any]:
    about = found.metadata
    name = re.sub(r"[-_.]+", "-", about["Name"]).lower()
    address = f"pkg:pypi/{name}@{found.version}"
    described: dict[str, Any] = {"type": kind, "bom-ref": address, "name": name, "version": found.version, "purl": address}
    if about.get("License-Expression"):
        described["licenses"] = [{"expression": about["License-Expression"]}]
    elif about.get("License") and "\n" not in about["License"]:
        described["licenses"] = [{"license": {"name": about["License"]}}]
    return described


def bill(root: str) -> dict[str, Any]:
    """The bill of an installed distribution."""
    first = distribution(root)
    waiting = [(first, {extra for extra in first.metadata.get_all("Provides-Extra") or () if extra not in ("dev", "docs")})]
    components: dict[str, dict[str, Any]] = {}
    needs: dict[str, set[str]] = {}
    seen: dict[str, set[str]] = {}
    while waiting:
        found, extras = waiting.pop()
        own = component(found, "application" if found is first else "library")
        reference = own["bom-ref"]
        if reference in components and extras <= seen[reference]:
            continue
        components[reference] = own
        seen[reference] = seen.get(reference, set()) | extras
        needs.setdefault(reference, set())
        for each in requirements(found, seen[reference]):
            other = installed(each.name)
            if other is not None and component(other)["bom-ref"] != reference:
                needs[reference].add(component(other)["bom-ref"])
                waiting.append((other, set(each.extras)))
    top = component(first)["bom-ref"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ' '.join(sorted(components)))}",
        "version": 1,
        "metadata": {"timestamp": datetime.now(UTC).isoformat(timespec="seconds"), "component": components[top]},
        "components": [components[reference] for reference in sorted(components) if reference != top],
        "dependencies": [{"ref": reference, "dependsOn": sorted(needs[reference])} for reference in sorted(needs)],
    }


if __name__ == "__main__":
    json.dump(bill("sestra"), sys.stdout, indent=2)
    sys.stdout.write("\n")
