"""The README's tour by a client that openapi-python-client generates. The address and the password come from the environment."""

import json
import os
import time

from client import AuthenticatedClient, Client
from client.api.auth import auth_sign_in
from client.api.connections import connections_create
from client.api.runs import runs_create, runs_get, runs_get_events, runs_get_plan, runs_review
from client.api.template_versions import template_versions_publish
from client.api.templates import templates_create
from client.api.users import users_create
from client.models import (
    CreateGenericConnection,
    CreateRun,
    CreateTemplate,
    CreateUser,
    PublishVersion,
    ReviewRun,
    Run,
    SignIn,
)

URL, ADMINISTRATOR, PASSWORD = (os.environ[name] for name in ("SERVICE_URL", "ADMINISTRATOR", "PASSWORD"))


def done(response):
    """What an operation answered; anything but a success ends the tour."""
    if response.status_code >= 300:
        raise SystemExit(f"answered {response.status_code}: {response.content}")
    return response.parsed


def sign_in(email, password):
    session = done(auth_sign_in.sync_detailed(client=Client(base_url=URL), body=SignIn(email=email, password=password)))
    return AuthenticatedClient(base_url=URL, token=session.token)


def await_status(client, run_id, status):
    for _ in range(300):
        run = done(runs_get.sync_detailed(run_id, client=client))
        assert isinstance(run, Run), run
        if run.status == status:
            return run
        time.sleep(0.1)
    raise SystemExit(f"the run never came to {status}")


admin = sign_in(ADMINISTRATOR, PASSWORD)
template = done(templates_create.sync_detailed(client=admin, body=CreateTemplate(name="Greeting by Python")))
version = {
    "version": "1.0.0",
    "spec": {
        "variables": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "approval": {"required": 1, "when": "always"},
        "executor": {
            "kind": "command",
            "apply": [{"name": "greet", "run": ["sh", "-c", "echo Hello, $COORDINATOR_VAR_NAME"]}],
        },
    },
}
done(template_versions_publish.sync_detailed(template.id, client=admin, body=PublishVersion.from_dict(version)))
request = {"template_id": str(template.id), "version": "^1.0", "variables": {"name": "Ana"}}
admitted = done(runs_create.sync_detailed(client=admin, body=CreateRun.from_dict(request)))
await_status(admin, admitted.id, "pending_approval")

reviewer = {"email": "bea-python@example.com", "name": "Bea", "password": "a second pair of eyes", "role": "maintainer"}
done(users_create.sync_detailed(client=admin, body=CreateUser.from_dict(reviewer)))
bea = sign_in(reviewer["email"], reviewer["password"])
plan = done(runs_get_plan.sync_detailed(admitted.id, client=bea))
review = ReviewRun.from_dict({"decision": "approve", "plan_digest": plan.digest})
done(runs_review.sync_detailed(admitted.id, client=bea, body=review))
run = await_status(admin, admitted.id, "succeeded")
events = done(runs_get_events.sync_detailed(admitted.id, client=admin)).events
settings = {"name": "python", "kind": "generic", "credentials": {"variables": {"MONITORING_TOKEN": "not a real one"}}}
connection = done(connections_create.sync_detailed(client=admin, body=CreateGenericConnection.from_dict(settings)))
print(json.dumps({"status": run.status, "last": events[-1].type_, "provides": connection.provides}))
