import { required } from './answers.ts';
import type { Environments } from './environments.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';

/** Variable sets by what they show. */
export interface SeededVariableSets {
  /** Of a team, with variables of every kind, attached to a project and an environment. */
  readonly aws: string;
  /** Of an organization, attached to many environments. */
  readonly shared: string;
  /** Without variables and attached to nothing. */
  readonly empty: string;
}

interface Owner {
  readonly organization_id?: string;
  readonly team_id?: string;
  readonly project_id?: string;
}

/** Adds variable sets of Northwind. Some of their variables win over others, and the environment's own over all. */
export async function addVariableSets(
  { owner }: People,
  { organizations, teams, projects }: Tenants,
  environments: Environments,
): Promise<SeededVariableSets> {
  const make = async (name: string, of: Owner, variables: object[], places: [string[], string[]]) => {
    const { id } = required(await owner.post('/variable-sets', { name, description: descriptions[name], ...of }), 201);
    required(await owner.put(`/variable-sets/${id}/variables`, { variables }), 200);
    const [project_ids, environment_ids] = places;
    required(await owner.put(`/variable-sets/${id}/attachments`, { project_ids, environment_ids }), 200);
    return id as string;
  };
  const network = projects['network']?.id ?? '';
  const { networkProduction, networkStaging, shopDevelopment, shopStaging, shopProduction } = environments;
  const team = { team_id: teams.platform.id };
  const aws = await make('aws-common', team, awsVariables, [[network], [environments.observabilityProduction.id]]);
  const shared = await make('company', { organization_id: organizations.northwind.id }, sharedVariables, [
    [network],
    [networkProduction, networkStaging, shopDevelopment, shopStaging, shopProduction].map(({ id }) => id),
  ]);
  await make('network-tuning', { project_id: network }, tuning, [[network], []]);
  const empty = await make('azure-common', team, [], [[], []]);
  return { aws, shared, empty };
}

const descriptions: Readonly<Record<string, string>> = {
  'aws-common': 'The region and the credentials of the account 111122223333.',
  company: 'What all teams share: proxies and the cost center.',
};

const env = (name: string, value: string, more: object = {}) => ({ name, value, category: 'env', ...more });

const awsVariables = [
  env('AWS_REGION', 'eu-central-1'),
  env('AWS_ACCESS_KEY_ID', 'AKIAQ7EXAMPLE4TFJ2LM', { sensitive: true }),
  env('AWS_SECRET_ACCESS_KEY', 'not-a-real-key-0123456789abcdef', {
    sensitive: true,
    plan_value: 'not-a-real-key-that-only-reads-it',
  }),
  { name: 'tags', value: { cost_center: 'CC-1140', owner: 'platform' }, category: 'template' },
];

const sharedVariables = [
  env('HTTPS_PROXY', 'http://proxy.northwind.example:3128'),
  env('AWS_REGION', 'eu-west-1'),
  env('AUDIT_LEVEL', 'full', { phases: ['apply'] }),
];

const tuning = [{ name: 'mtu', value: 9001, category: 'template' }, env('AUDIT_LEVEL', 'brief')];
