import type { SampleClient } from './client.ts';

/** How long the sample waits for its assembly run to need an approval. */
const followForMs = 60_000;

interface AssemblyTemplate {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly properties: object;
  readonly outputs: object;
  readonly script: string;
}

const templates: readonly AssemblyTemplate[] = [
  {
    slug: 'network',
    name: 'Network',
    description: 'Pretends to create a network, and returns its address range.',
    properties: { cidr: { type: 'string', default: '10.0.0.0/16' } },
    outputs: { cidr: { description: 'The address range' } },
    script: 'printf \'{"cidr": "%s"}\' "$COORDINATOR_VAR_CIDR"',
  },
  {
    slug: 'service',
    name: 'Service',
    description: 'Pretends to start a service in a network, and returns its URL.',
    properties: { name: { type: 'string' }, cidr: { type: 'string' } },
    outputs: { url: { description: 'Where the service answers' } },
    script: 'printf \'{"url": "http://%s.internal"}\' "$COORDINATOR_VAR_NAME"',
  },
  {
    slug: 'smoke-test',
    name: 'Smoke test',
    description: 'Pretends to try the services.',
    properties: { urls: { type: 'array', items: { type: 'string' } } },
    outputs: { passed: { description: 'How many services answered' } },
    script: 'printf \'{"passed": 2}\'',
  },
];

/** A network, two services in it that deploy side by side, and a test of both. The second service waits for an approval. */
const draft = `# A network, two services in it, and a test of both.
variables:
  type: object
  properties:
    cidr:
      type: string
      default: 10.0.0.0/16
      description: The address range of the network.
nodes:
  network:
    template: network
    variables:
      cidr: \${variables.cidr}
  web:
    template: service
    variables:
      name: web
      cidr: \${nodes.network.outputs.cidr}
  api:
    template: service
    variables:
      name: api
      cidr: \${nodes.network.outputs.cidr}
    approval:
      required: 1
      allow_self: true
  smoke-test:
    template: smoke-test
    variables:
      urls:
        - \${nodes.web.outputs.url}
        - \${nodes.api.outputs.url}
outputs:
  web: \${nodes.web.outputs.url}
  api: \${nodes.api.outputs.url}
`;

/** Creates an assembly of three templates, and runs it until one of its nodes waits for approval. */
export async function runSampleAssembly(
  client: SampleClient,
  { teamId, environmentId }: { teamId: string; environmentId: string },
  report: (line: string) => void,
): Promise<void> {
  report('Sample shop: publishing an assembly of three templates, and running it …');
  for (const template of templates) await publishTemplate(client, template, teamId);
  const assembly = { team_id: teamId, name: 'Sample shop', slug: 'shop' };
  const description = 'A network, two services in it, and a test of both. One service waits for an approval.';
  const id = await client.create('/assemblies', { ...assembly, description });
  await client.replace(`/assemblies/${id}/draft`, { spec: draft });
  await client.publish(`/assemblies/${id}/publish`, { version: '1.0.0', changelog: 'First version.' });
  const message = 'The sample assembly of the first start';
  const runId = await client.create(`/assemblies/${id}/runs`, { environment_id: environmentId, message });
  const run = await client.awaitStatus(
    `/assemblies/${id}/runs/${runId}`,
    ['pending_approval', 'succeeded', 'failed', 'canceled', 'timed_out'],
    followForMs,
  );
  const isWaiting = run.status === 'pending_approval';
  report(`Sample shop: ${isWaiting ? 'its node "api" waits for your approval, see Approvals' : run.status}`);
}

async function publishTemplate(
  client: SampleClient,
  { slug, name, description, properties, outputs, script }: AssemblyTemplate,
  teamId: string,
): Promise<void> {
  const id = await client.create('/registry/templates', { name, slug, description, team_id: teamId, tags: ['sample'] });
  const apply = [{ name: slug, run: ['sh', '-c', `cp variables.json state.json && ${script} > outputs.json`] }];
  const destroy = [{ name: 'remove', run: ['sh', '-c', 'echo Removed'] }];
  const spec = {
    variables: { type: 'object', properties, additionalProperties: false },
    outputs,
    executor: { kind: 'command', apply, destroy },
  };
  await client.publish(`/registry/templates/${id}/versions`, { version: '1.0.0', spec, changelog: 'First version.' });
}
