import { readUntil } from '#test/support/read-until.ts';
import type { Installation } from '../harness/installation.ts';
import { describeEscapingTemplates, describeGreedyTemplates } from './attacks.ts';

/** A secret that must not appear anywhere. Its characters are escaped differently by shells, JSON and URLs. */
export const secret = 'Tr0ub4dor&3 "quoted" $HOME/ünï';

export interface HostileTemplate {
  readonly spec: object;
  readonly variables?: Readonly<Record<string, string>>;
  /** The credentials of a connection that is bound under the name `leaked`. */
  readonly credentials?: object;
  /** How the run must end: its status, and its reason if it has one. */
  readonly ends: readonly [status: string, reason: string | null];
}

const change = '[{"address":"thing","action":"create","before":null,"after":{}}]';
const script = (apply: string, plan = `echo '${change}' > plan.json`, rest: object = {}) => ({
  executor: {
    kind: 'command',
    plan: [{ name: 'plan', run: ['sh', '-c', plan] }],
    apply: [{ name: 'apply', run: ['bash', '-c', apply] }],
  },
  ...rest,
});
const withToken = {
  variables: { type: 'object', properties: { token: { type: 'string', writeOnly: true } }, required: ['token'] },
};

/** Prints the secret in every form that the documentation promises to redact, in pieces, and in every file that a step may write. */
const leak = `
token=$(sed -n 's/.*"token":"\\(.*\\)".*/\\1/p' variables.json)
cat variables.json; cat variables.json >&2
printf '%s' "$token" | base64 -w0; echo
for i in $(seq \${#token}); do printf '%s' "\${token:$((i-1)):1}"; sleep 0.01; done; echo
cp variables.json state.json
printf '{"seen": %s}' "$(cat variables.json)" > outputs.json
`;

/** The same for what a connection gives, and a file of several lines in parts. It fails unless it was given both. */
const leakConnection = `
[ "$(sed -n 2p "$LEAKED_FILE")" = "$LEAKED_TOKEN" ] || exit 9
env; env >&2; cat "$LEAKED_FILE"; sed -n 2p "$LEAKED_FILE"; cat /proc/self/environ
printf '%s' "$LEAKED_TOKEN" | base64 -w0; echo; base64 -w0 "$LEAKED_FILE"; echo
ls -l "$LEAKED_FILE" | grep -q '^-rw-------' || exit 8
`;
const inPieces = `
for i in $(seq \${#LEAKED_TOKEN}); do printf '%s' "\${LEAKED_TOKEN:$((i-1)):1}"; sleep 0.01; done; echo
`;
const keptInFiles = `
printf '{"seen": "%s"}' "$(printf '%s' "$LEAKED_TOKEN" | sed 's/["\\\\]/\\\\&/g')" > outputs.json; cp outputs.json state.json
`;
const connection = {
  connections: [{ name: 'leaked', kind: 'generic' }],
  credentials: { variables: { LEAKED_TOKEN: secret }, files: { LEAKED_FILE: `first line\n${secret}\nlast line\n` } },
};

/** The parts of an installation that the templates attack. */
interface Targets {
  readonly directory: string;
  readonly postgres: { readonly address: string };
  readonly temporal: { readonly address: string };
}

/** The hostile templates by name. `flood` is how many megabytes the template that prints endlessly prints. */
export function describeHostileTemplates(
  { directory, postgres, temporal }: Targets,
  flood: number,
): Record<string, HostileTemplate> {
  const ports = [new URL(postgres.address).port, temporal.address.split(':')[1]].join(' ');
  return {
    'prints invalid text': {
      spec: script(
        `printf 'nul:\\0:\\nbroken:\\xff\\xfe\\xc3(:\\n'; printf 'split:\\xe2'; sleep 0.6; printf '\\x82\\xac:\\n'`,
      ),
      ends: ['succeeded', null],
    },
    'leaves child processes that ignore signals': {
      spec: script(
        `for i in 1 2 3 4; do (trap '' INT TERM HUP; setsid sleep 717171 & sleep 717171) & done; sleep 1; echo over`,
      ),
      ends: ['succeeded', null],
    },
    ...describeGreedyTemplates(script),
    ...describeEscapingTemplates(script),
    'searches for keys': {
      spec: script(
        `env; for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; tr '\\0' ' ' <$p/cmdline; ls -l $p/fd $p/cwd; done 2>/dev/null
         find ${directory} -type f -readable -size -200k -exec cat {} + 2>/dev/null
         find / -xdev -name '*secret-key*' -readable -type f -exec cat {} + 2>/dev/null; true`,
      ),
      ends: ['succeeded', null],
    },
    'connects to the servers': {
      spec: script(
        `for port in ${ports}; do
           exec 3<>/dev/tcp/127.0.0.1/$port && echo "reached $port"
           printf '\\x00\\x00\\x00\\x29\\x00\\x03\\x00\\x00user\\0coordinator\\0database\\0coordinator\\0\\0' >&3
           timeout 2 head -c 40 <&3 | od -c | head -5; exec 3>&-
         done; true`,
      ),
      ends: ['succeeded', null],
    },
    'leaks its secret': {
      spec: {
        ...script(leak, `cat variables.json; echo '${change}' > plan.json`),
        ...withToken,
        outputs: { seen: {} },
      },
      variables: { token: secret },
      ends: ['succeeded', null],
    },
    'leaks its secret and fails': {
      spec: { ...script(`${leak}; exit 7`), ...withToken },
      variables: { token: secret },
      ends: ['failed', 'step_failed'],
    },
    'leaks its secret in its plan': {
      spec: {
        ...script(
          'true',
          `printf '[{"address":"thing","action":"create","sensitive":true,"before":null,"after":%s}]' "$(cat variables.json)" > plan.json; cat plan.json`,
        ),
        ...withToken,
      },
      variables: { token: secret },
      ends: ['succeeded', null],
    },
    'leaks its secret from infrastructure': {
      spec: {
        ...withToken,
        executor: {
          kind: 'opentofu',
          files: {
            'main.tf': `
variable "token" {
  type      = string
  sensitive = true
}
resource "terraform_data" "known" {
  input = var.token
  provisioner "local-exec" { command = "env | grep TF_VAR; cat *.json *.tfvars* ../*.json; true" }
}
output "token" {
  value     = var.token
  sensitive = true
}
`,
          },
        },
      },
      variables: { token: secret },
      ends: ['succeeded', null],
    },
    'leaks its connection': {
      spec: {
        ...script(`${leakConnection}${inPieces}${keptInFiles}`, `${leakConnection}\necho '${change}' > plan.json`),
        connections: connection.connections,
        outputs: { seen: { sensitive: true } },
      },
      credentials: connection.credentials,
      ends: ['succeeded', null],
    },
    'leaks its connection and fails': {
      spec: { ...script(`${leakConnection}${inPieces}exit 7`), connections: connection.connections },
      credentials: connection.credentials,
      ends: ['failed', 'step_failed'],
    },
    'prints endlessly': {
      spec: script(`yes "$(printf 'x%.0s' $(seq 200))" | head -c ${flood}000000`),
      ends: ['succeeded', null],
    },
  };
}

/** Runs a template and waits for its end. @returns the run */
export async function runHostileTemplate(
  { requester }: Installation,
  name: string,
  template: HostileTemplate,
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the response
): Promise<any> {
  const slug = name.replaceAll(' ', '-');
  const { id } = await requester.call('POST', '/registry/templates', { name, slug });
  await requester.call('POST', `/registry/templates/${id}/versions`, { version: '1.0.0', spec: template.spec });
  const place = template.credentials && { environment_id: await bindConnection(requester, slug, template.credentials) };
  const variables = template.variables ?? {};
  const admitted = await requester.call('POST', '/runs', { template_id: id, variables, ...place });
  const read = () => requester.call('GET', `/runs/${admitted.id}`);
  return readUntil(read, (run) => run.finished_at !== null, 600_000);
}

/** Makes an environment whose runs get a connection with these credentials. @returns its id */
async function bindConnection(
  requester: Installation['requester'],
  slug: string,
  credentials: object,
): Promise<string> {
  const organization = await requester.call('POST', '/organizations', { name: slug, slug });
  const owner = `/organizations/${organization.id}`;
  const team = await requester.call('POST', `${owner}/teams`, { name: slug, slug });
  const project = await requester.call('POST', '/projects', { team_id: team.id, name: slug, slug });
  const environment = await requester.call('POST', '/environments', {
    project_id: project.id,
    name: slug,
    slug,
    kind: 'development',
  });
  const made = { name: slug, kind: 'generic', team_id: team.id, credentials };
  const { id } = await requester.call('POST', '/admin/connections', made);
  await requester.call('PUT', `/environments/${environment.id}/connections`, { leaked: { connection_id: id } });
  return environment.id;
}
