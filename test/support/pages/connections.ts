import { required } from './answers.ts';
import type { Environments } from './environments.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';

/** Connections by what they show. */
export interface SeededConnections {
  /** Of a team, bound by a project and an environment. */
  readonly aws: string;
  /** Of an organization, with several variables and files. */
  readonly monitoring: string;
}

/** Adds connections of Northwind, which a project and an environment bind. */
export async function addConnections(
  { owner }: People,
  { organizations, teams, projects }: Tenants,
  environments: Environments,
): Promise<SeededConnections> {
  const make = async (body: object): Promise<string> => required(await owner.post('/admin/connections', body), 201).id;
  const aws = await make({
    name: 'aws-production',
    kind: 'cloud',
    team_id: teams.platform.id,
    config: { provider: 'aws', region: 'eu-central-1' },
    credentials: { access_key_id: 'AKIAEXAMPLE00000000', secret_access_key: 'x'.repeat(40) },
  });
  const monitoring = await make({
    name: 'monitoring',
    kind: 'generic',
    organization_id: organizations.northwind.id,
    credentials: { variables: { MONITORING_TOKEN: 'not a real one' }, files: { MONITORING_CA: 'nor this' } },
  });
  const network = projects['network']?.id ?? '';
  required(await owner.put(`/projects/${network}/connections`, { monitoring: { connection_id: monitoring } }), 200);
  const place = `/environments/${environments.networkProduction.id}/connections`;
  required(await owner.put(place, { aws: { connection_id: aws, phases: ['apply'] } }), 200);
  return { aws, monitoring };
}
