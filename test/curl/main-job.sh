#!/bin/sh
# The main job by nothing but curl (and grep, cut and sed to read what it answers): a run of each kind of template from
# admission to its outputs, with everything that a client may meet on the way. Each step prints one line, "ok - …"; the
# first that fails says what came instead and ends the script.
#
#   URL=http://127.0.0.1:8080 EMAIL=… PASSWORD=… sh main-job.sh [opentofu]
#
# EMAIL and PASSWORD are an administrator's. With "opentofu" as the first argument, the workers must have tofu or
# terraform. KEY is the Idempotency-Key of the first run, SUFFIX keeps the names of this pass apart from another's.
set -u

: "${URL:?the URL of the service}" "${EMAIL:?the address of an administrator}" "${PASSWORD:?that password}"
tool=${1:-none}
if [ -z "${KEY:-}" ]; then read -r KEY </proc/sys/kernel/random/uuid; fi
suffix=${SUFFIX:-$(echo "$KEY" | cut -c1-8)}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: >"$tmp/nobody"

# call WHO METHOD PATH [BODY [HEADER]]: leaves the status in $status, the rest in $tmp/head and $tmp/body. Credentials and
# bodies travel by files and pipes, where no list of processes shows them.
call() {
  who=$1 method=$2 path=$3 body=${4:-} header=${5:-X-Client-Request-ID: main-job}
  set -- -sS -o "$tmp/body" -D "$tmp/head" -w '%{http_code}' -X "$method" -H "@$tmp/$who" -H "$header"
  : >"$tmp/body"
  if [ -n "$body" ]; then
    status=$(printf '%s' "$body" | curl "$@" -H 'Content-Type: application/json' --data-binary @- "$URL$path")
  else
    status=$(curl "$@" "$URL$path")
  fi
}

fail() {
  echo "not ok - $1"
  echo "  $who $method $path answered $status:"
  sed 's/^/  /' "$tmp/body"
  echo
  exit 1
}

ok() { echo "ok - $1"; }

# expect STATUS STEP [PATTERN …]: the answer has that status, and every pattern is in its body.
expect() {
  wanted=$1 step=$2
  shift 2
  [ "$status" = "$wanted" ] || fail "$step: expected $wanted"
  for pattern in "$@"; do
    grep -q -e "$pattern" "$tmp/body" || fail "$step: expected $pattern in the body"
  done
  ok "$step"
}

# field NAME: the first text of that name in the body.
field() { grep -o "\"$1\":\"[^\"]*\"" "$tmp/body" | sed -n 1p | cut -d'"' -f4; }
header() { grep -i "^$1:" "$tmp/head" | cut -d' ' -f2 | sed 's/[[:space:]]*$//'; }

# await RUN STATUS STEP: polls a run, at most a minute, until it has that status.
await() {
  tries=0
  while [ "$tries" -lt 240 ]; do
    call admin GET "/api/v1/runs/$1"
    case $(field status) in
      "$2") break ;;
      succeeded | failed | canceled | timed_out) fail "$3: it ended otherwise" ;;
    esac
    tries=$((tries + 1))
    sleep 0.25
  done
  expect 200 "$3" "\"status\":\"$2\""
}

sign_in() {
  call nobody POST /api/v1/auth/sessions "{\"email\":\"$2\",\"password\":\"$3\"}"
  expect 201 "$4" '"token":"'
  printf 'Authorization: Bearer %s\n' "$(field token)" >"$tmp/$1"
}

# --- Who and where ---------------------------------------------------------------------------------------------------

call nobody GET /readyz
expect 200 'the service is ready'
call nobody GET /api/v1/runs
expect 401 'without a credential nothing is answered' '"error":"'
call nobody POST /api/v1/auth/sessions "{\"email\":\"$EMAIL\",\"password\":\"not the password\"}"
expect 401 'a wrong password opens nothing'
sign_in admin "$EMAIL" "$PASSWORD" 'the administrator signs in'
call admin GET /api/v1/auth/whoami
expect 200 'whoami tells who that is' '"role":"admin"' "$EMAIL"

call admin POST /api/v1/organizations "{\"name\":\"Organization $suffix\",\"colour\":\"red\"}"
expect 400 'a field that is not known is named' 'colour'
call admin POST /api/v1/organizations "{\"name\":\"Organization $suffix\"}"
expect 201 'an organization is made' "\"slug\":\"organization-$suffix\""
organization=$(field id)
call admin POST "/api/v1/organizations/$organization/teams" '{"name":"Network"}'
expect 201 'a team is made'
team=$(field id)
call admin POST /api/v1/projects "{\"team_id\":\"$team\",\"name\":\"Backbone\"}"
expect 201 'a project is made'
project=$(field id)
call admin POST /api/v1/environments "{\"project_id\":\"$project\",\"name\":\"Production\",\"kind\":\"production\",
  \"approval_policy\":{\"required\":1,\"when\":\"always\",\"allow_self\":false}}"
expect 201 'an environment is made in which another person approves' '"required":1' '"allow_self":false'
environment=$(field id)
call admin PUT "/api/v1/environments/$environment/variables/CLOUD_TOKEN" \
  '{"value":"cloud-secret-4711","category":"env","sensitive":true}'
expect 200 'it gets a secret variable, which no answer shows' '"sensitive":true'
grep -q cloud-secret "$tmp/body" && fail 'the secret is in the answer'

call admin POST /api/v1/users "{\"email\":\"bea-$suffix@example.com\",\"name\":\"Bea\",
  \"password\":\"a second pair of eyes\",\"role\":\"maintainer\"}"
expect 201 'a second person is made' '"role":"maintainer"'
bea=$(field id)
sign_in bea "bea-$suffix@example.com" 'a second pair of eyes' 'she signs in'
call bea GET "/api/v1/environments/$environment"
expect 404 'what is not of her teams is not there for her'
call admin PUT "/api/v1/organizations/$organization/members/$bea" '{"role":"member"}'
expect 200 'she joins the organization'
call admin PUT "/api/v1/organizations/$organization/teams/$team/members/$bea" '{"role":"admin"}'
expect 200 'she joins the team'
call bea GET "/api/v1/environments/$environment"
expect 200 'and sees its environment'

call admin POST /api/v1/users "{\"email\":\"cleo-$suffix@example.com\",\"name\":\"Cleo\",
  \"password\":\"a third pair of eyes\",\"role\":\"maintainer\"}"
expect 201 'a third person is made, who writes templates' '"role":"maintainer"'
cleo=$(field id)
sign_in cleo "cleo-$suffix@example.com" 'a third pair of eyes' 'she signs in'
call admin PUT "/api/v1/organizations/$organization/members/$cleo" '{"role":"member"}'
expect 200 'she joins the organization'
call admin PUT "/api/v1/organizations/$organization/teams/$team/members/$cleo" '{"role":"admin"}'
expect 200 'she joins the team'

# --- A template of commands ------------------------------------------------------------------------------------------

call cleo POST /api/v1/registry/templates "{\"name\":\"Greeting\",\"team_id\":\"$team\"}"
expect 201 'a template is made'
template=$(field id)
versions=/api/v1/registry/templates/$template/versions
spec='{"variables":{"type":"object","required":["name"],"properties":{
    "name":{"type":"string","minLength":1},
    "password":{"type":"string","writeOnly":true}}},
  "outputs":{"greeting":{"description":"What was said"}},
  "executor":{"kind":"command",
    "plan":[{"name":"look","run":["sh","-c","echo \"would greet $COORDINATOR_VAR_NAME\"; echo \"[{\\\"address\\\":\\\"greeting\\\",\\\"action\\\":\\\"create\\\",\\\"before\\\":null,\\\"after\\\":{\\\"name\\\":\\\"$COORDINATOR_VAR_NAME\\\"}}]\" > plan.json"]}],
    "apply":[{"name":"greet","run":["sh","-c","echo \"Hello, $COORDINATOR_VAR_NAME\"; echo \"with $CLOUD_TOKEN\"; cp variables.json state.json; echo \"{\\\"greeting\\\":\\\"Hello, $COORDINATOR_VAR_NAME\\\"}\" > outputs.json"]}]}}'
call cleo POST "$versions" "{\"version\":\"1.0.0\",\"spec\":$spec}"
expect 201 'a version of commands is published' '"version":"1.0.0"' '"digest":"'
call cleo POST "$versions" "{\"version\":\"1.0.0\",\"spec\":$spec}"
expect 200 'the same again is the same version'
call cleo POST "$versions" '{"version":"1.0.0","spec":{"executor":{"kind":"command","apply":[{"name":"other","run":["true"]}]}}}'
expect 409 'another content under the same version is refused'
call bea POST "$versions/latest/validate" '{"variables":{"nme":"Ana"}}'
expect 200 'variables are checked, all errors at once' '"valid":false' 'did you mean' '/name'
call bea POST /api/v1/runs "{\"template_id\":\"$template\",\"environment_id\":\"$environment\",\"variables\":{}}"
expect 422 'a run with wrong variables is not admitted' 'variables: '

# --- A run, from its key to its outputs ------------------------------------------------------------------------------

request="{\"template_id\":\"$template\",\"version\":\"^1.0\",\"environment_id\":\"$environment\",\"instance\":\"greeting\",
  \"variables\":{\"name\":\"Ana\",\"password\":\"variable-secret-4712\"},\"message\":\"The first one\"}"
call admin POST /api/v1/runs "$request" "Idempotency-Key: $KEY"
expect 202 'a run is admitted by its key' '"status":"queued"' '"template_version":"1.0.0"' '"password":{"sensitive":true}'
run=$(field id)
[ "$(header idempotency-key)" = "$KEY" ] || fail 'the answer names another key'
[ "$(header location)" = "/api/v1/runs/$run" ] || fail 'the answer names another location'
call admin POST /api/v1/runs "$request" "Idempotency-Key: $KEY"
expect 202 'the same request by the same key is the same run' "\"id\":\"$run\""
call admin POST /api/v1/runs "$(echo "$request" | sed 's/Ana/Eve/')" "Idempotency-Key: $KEY"
expect 409 'another body by the same key is refused' 'idempotency key'
call bea POST /api/v1/runs "$request" "Idempotency-Key: $KEY"
expect 409 'and so is another caller'
call admin POST /api/v1/runs "$request" 'Idempotency-Key: 1'
expect 400 'a key that is no UUID is refused' 'Idempotency-Key'

await "$run" pending_approval 'the run is planned and waits for approval'
grep -q '"waiting_on":{"code":"approval"' "$tmp/body" || fail 'it does not say what it waits on'
call bea GET "/api/v1/runs/$run/plan"
expect 200 'the plan shows what would change' '"address":"greeting"' '"action":"create"' '"after":{"name":"Ana"}'
digest=$(field digest)
call admin POST "/api/v1/runs/$run/approval/request" "{\"reviewers\":[\"$bea\"],\"message\":\"Please look\"}"
expect 202 'a review is asked for'
approve="{\"decision\":\"approve\",\"comment\":\"Looks right\",\"plan_digest\":\"$digest\"}"
call admin POST "/api/v1/runs/$run/approval/review" "$approve"
expect 409 'nobody approves their own run' 'another person must approve this run'
call cleo POST "/api/v1/runs/$run/approval/review" "$approve"
expect 409 'nobody approves a run of a version that they published' 'you published version 1.0.0'
call bea POST "/api/v1/runs/$run/approval/review" \
  '{"decision":"approve","plan_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}'
expect 409 'a digest that is not of the plan approves nothing' 'plan_digest'
call admin DELETE "/api/v1/runs/$run"
expect 409 'a run that has not ended is not deleted'
call bea POST "/api/v1/runs/$run/approval/review" "$approve"
expect 200 'the second person approves by its digest' '"decision":"approve"' '"comment":"Looks right"'
await "$run" succeeded 'the run succeeds'
grep -q '"greeting":{"value":"Hello, Ana","sensitive":false}' "$tmp/body" || fail 'the run has not its output'
instance=$(field instance_id)
call bea POST "/api/v1/runs/$run/approval/review" "$approve"
expect 409 'an ended run takes no review' 'not waiting for approval'

call bea GET "/api/v1/runs/$run/logs"
expect 200 'its log is there as entries' '"sequence":1' '"complete":true' 'Hello, Ana'
call bea GET "/api/v1/runs/$run/logs" '' 'Accept: text/plain'
expect 200 'and as text' '^would greet Ana$' '^Hello, Ana$' '^with '
grep -q -e 'cloud-secret' -e 'variable-secret' "$tmp/body" && fail 'a secret is in the log'
call bea GET "/api/v1/runs/$run/events"
expect 200 'its events tell the story' '"run.admitted"' '"run.approval_required"' '"run.reviewed"' '"run.applying"' '"run.finished"'
call bea GET "/api/v1/instances/$instance/outputs"
expect 200 'the instance has the outputs' '"value":"Hello, Ana"'
call bea GET "/api/v1/instances/$instance/state-versions"
expect 200 'and a version of its state' '"serial":1' "\"run_id\":\"$run\""
call bea GET "/api/v1/instances/$instance/state-versions/1/download"
expect 200 'which those who may can download' '"name":"Ana"'

# --- Cancel, requeue, reject, delete ---------------------------------------------------------------------------------

call bea POST /api/v1/registry/templates "{\"name\":\"Sleeper\",\"team_id\":\"$team\"}"
expect 201 'another template is made'
sleeper=$(field id)
call bea POST "/api/v1/registry/templates/$sleeper/versions" '{"version":"1.0.0","spec":{"executor":{"kind":"command",
  "plan":[{"name":"sleep","run":["sh","-c","echo falling asleep; sleep 300"]}],"apply":[{"name":"never","run":["true"]}]}}}'
expect 201 'its plan sleeps for five minutes'
call bea POST /api/v1/runs "{\"template_id\":\"$sleeper\",\"environment_id\":\"$environment\"}"
expect 202 'a run of it is admitted without a key' '"status":"queued"'
sleeping=$(field id)
header idempotency-key | grep -q '^[0-9a-f-]\{36\}$' || fail 'the answer names no fresh key'
await "$sleeping" running 'it runs'
call bea POST "/api/v1/runs/$sleeping/cancel" '{"reason":"It sleeps"}'
expect 202 'it is asked to end' '"status":"canceling"'
await "$sleeping" canceled 'it ends canceled'
grep -q '"status_reason":"canceled_by_user"' "$tmp/body" || fail 'it does not say why'
call bea POST "/api/v1/runs/$sleeping/cancel" '{}'
expect 409 'what has ended is not canceled'

call admin POST "/api/v1/runs/$run/requeue"
expect 202 'an ended run is run again as a new one' "\"requeued_from\":\"$run\"" '"name":"Ana"'
again=$(field id)
[ "$again" != "$run" ] || fail 'the new run has the old id'
await "$again" pending_approval 'which waits for its own approval'
digest=$(field digest)
call bea POST "/api/v1/runs/$again/approval/review" "{\"decision\":\"reject\",\"comment\":\"Once is enough\",\"plan_digest\":\"$digest\"}"
expect 200 'a rejection ends it' '"status":"canceled"' '"status_reason":"rejected"'
call bea DELETE "/api/v1/runs/$again"
expect 403 'deleting takes a permission that a maintainer has not' 'run:delete'
call admin DELETE "/api/v1/runs/$again"
expect 204 'an administrator deletes the run'
call admin DELETE "/api/v1/runs/$again"
expect 404 'once'
call admin GET "/api/v1/runs/$again"
expect 200 'its lineage stays' '"deleted_at":"' "\"requeued_from\":\"$run\""
call admin GET "/api/v1/runs/$again/plan"
expect 404 'its plan does not'

call admin GET "/api/v1/runs?team_id=$team&limit=1"
expect 200 'runs are listed page by page' '"next_cursor":"'
call admin GET "/api/v1/runs?team_id=$team&limit=1&cursor=$(field next_cursor)"
expect 200 'to the last' '"next_cursor":null' "\"id\":\"$run\""

# --- OpenTofu --------------------------------------------------------------------------------------------------------

if [ "$tool" = opentofu ]; then
  call cleo POST /api/v1/registry/templates "{\"name\":\"Network\",\"team_id\":\"$team\"}"
  expect 201 'a template for OpenTofu is made'
  network=$(field id)
  call cleo POST "/api/v1/registry/templates/$network/versions" '{"version":"1.0.0","spec":{
    "variables":{"type":"object","properties":{"cidr":{"type":"string","default":"10.0.0.0/16"}}},
    "outputs":{"cidr":{}},
    "executor":{"kind":"opentofu","files":{"main.tf":"variable \"cidr\" { type = string }\nresource \"terraform_data\" \"network\" { input = var.cidr }\noutput \"cidr\" { value = terraform_data.network.output }\n"}}}}'
  expect 201 'a version of it is published'
  request="{\"template_id\":\"$network\",\"environment_id\":\"$environment\",\"instance\":\"network\""
  call admin POST /api/v1/runs "$request}"
  expect 202 'a run of it is admitted'
  deployed=$(field id)
  await "$deployed" pending_approval 'it is planned and waits for approval'
  call bea GET "/api/v1/runs/$deployed/plan"
  expect 200 'its plan shows the resource' '"address":"terraform_data.network"' '"add":1'
  call bea POST "/api/v1/runs/$deployed/approval/review" "{\"decision\":\"approve\",\"plan_digest\":\"$(field digest)\"}"
  expect 200 'it is approved'
  await "$deployed" succeeded 'it succeeds'
  grep -q '"cidr":{"value":"10.0.0.0/16"' "$tmp/body" || fail 'it has not its output'
  instance=$(field instance_id)
  call bea GET "/api/v1/instances/$instance/state-versions"
  expect 200 'its state is kept' "\"run_id\":\"$deployed\"" '"resource_count":1'
  call bea POST /api/v1/runs "$request,\"operation\":\"destroy\"}"
  expect 202 'its destruction is admitted'
  destroyed=$(field id)
  await "$destroyed" pending_approval 'and waits for approval too'
  call admin POST "/api/v1/runs/$destroyed/approval/review" "{\"decision\":\"approve\",\"plan_digest\":\"$(field digest)\"}"
  expect 200 'which now the other one gives'
  await "$destroyed" succeeded 'nothing is left'
  call bea GET "/api/v1/instances/$instance"
  expect 200 'the instance says so' '"resource_count":0'
fi

call bea DELETE /api/v1/auth/sessions/current
expect 204 'she signs out'
call bea GET /api/v1/auth/whoami
expect 401 'her session is over'
