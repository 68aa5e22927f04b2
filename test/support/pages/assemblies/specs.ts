import type { Templates } from '../catalog/add-templates.ts';

/** The specs of the installation's assemblies. */

type Nodes = Record<string, Record<string, unknown>>;

export const sixNodes = (templates: Templates) => ({
  description: 'A shop with its network, its data and its address.',
  variables: {
    type: 'object',
    properties: {
      cidr: { type: 'string', title: 'Address range', default: '10.40.0.0/16' },
      zone: { type: 'string', title: 'Zone', default: 'shop.northwind.example' },
      size: { enum: ['small', 'large'], title: 'Size', default: 'small' },
      password: { type: 'string', title: 'Password of the database', writeOnly: true },
    },
    required: ['password'],
  },
  nodes: {
    network: {
      template: templates.network.id,
      variables: { ...templates.network.plan.example, cidr: '${variables.cidr}' },
    },
    database: {
      template: templates.database.id,
      instance: 'shop-database',
      variables: { ...templates.database.plan.example, administrator_password: '${variables.password}' },
      depends_on: ['network'],
      approval: { required: 1 },
    },
    cluster: {
      template: templates.cluster.id,
      variables: templates.cluster.plan.example,
      depends_on: ['network'],
      timeout: 'PT3H',
    },
    release: {
      template: templates.records.id,
      variables: { zone: '${variables.zone}' },
      depends_on: ['cluster', 'database'],
      retry: { attempts: 3, backoff: 'PT30S' },
    },
    records: { template: templates.records.id, variables: { zone: '${variables.zone}' }, depends_on: ['release'] },
    'smoke-test': {
      template: templates.records.id,
      variables: { zone: '${variables.zone}' },
      depends_on: ['records'],
      when: "variables.size == 'large'",
    },
  },
  outputs: { network: '${nodes.network.outputs.network_id}', database: '${nodes.database.outputs.host}' },
});

/** Before the database needed an approval, and with a node that is gone since. */
export function sixNodesBefore(templates: Templates) {
  const { nodes, ...spec } = sixNodes(templates);
  const { approval: _, ...database } = nodes.database;
  const { 'smoke-test': __, ...rest } = nodes;
  const cache = { template: templates.records.id, variables: { zone: '${variables.zone}' }, depends_on: ['network'] };
  return { ...spec, nodes: { ...rest, database, cache }, concurrency: 4 };
}

/** Ten regions of four nodes each, which wait for each other in turn. */
export function fortyNodes(templates: Templates) {
  const nodes: Nodes = {};
  for (const region of Array.from({ length: 10 }, (_, index) => `r${index}`)) {
    const names = ['zone', 'mail', 'web', 'check'].map((name) => `${region}-${name}`);
    for (const [index, key] of names.entries()) {
      const before = index === 0 ? (region === 'r0' ? [] : ['r0-zone']) : [names[index - 1]];
      nodes[key] = { template: templates.records.id, variables: { zone: `${key}.example` }, depends_on: before };
    }
  }
  return { nodes, concurrency: 8 };
}

/** A chain of stages, of which each fans out wide. */
export function fiveHundredNodes(templates: Templates) {
  const nodes: Nodes = {};
  const add = (key: string, before: string[]) => {
    nodes[key] = { template: templates.records.id, variables: { zone: `${key}.example` }, depends_on: before };
  };
  for (let stage = 0; stage < 10; stage += 1) {
    const shards = Array.from({ length: 48 }, (_, index) => `s${stage}-shard-${String(index).padStart(2, '0')}`);
    add(`s${stage}-begin`, stage === 0 ? [] : [`s${stage - 1}-end`]);
    for (const shard of shards) add(shard, [`s${stage}-begin`]);
    add(`s${stage}-end`, shards);
  }
  return { nodes, concurrency: 50 };
}

/** A draft that is wrong in several ways. */
export const wrongDraft = `# The shop, with monitoring.
variables:
  type: object
  properties:
    zone: {type: string}
nodes:
  network:
    template: vpc-network
    variables:
      cidr: 12
  database:
    template: postgres
    variables:
      subnets: \${nodes.netwrok.outputs.private_subnet_ids}
  release:
    template: records
    depends_on: [check]
    variables: {zone: "\${variables.zone}"}
  check:
    template: records
    depends_on: [release]
    when: variables.zone ==
    variables: {zone: "\${variables.nozone}"}
outputs:
  address: \${nodes.release.outputs.address}
`;
