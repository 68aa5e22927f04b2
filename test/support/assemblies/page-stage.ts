import { join, makeTenant, type Tenant } from '../access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '../api/in-process-api.ts';
import { type RunProgress, setProgress } from '../pages/assemblies/progress.ts';
import { addTemplate, templateSpec } from './assemblies.ts';

/** A team with a template and people of several roles, for tests of the pages of assemblies. */
export interface PageStage {
  readonly api: TestApi;
  readonly tenant: Tenant;
  readonly viewer: ApiUser;
  readonly stranger: ApiUser;
  readonly template: string;
}

export async function openPageStage(): Promise<PageStage> {
  const api = await startApi();
  const tenant = await makeTenant(api);
  const viewer = await api.addUser('requester');
  await join(tenant, viewer, 'member', 'viewer');
  const stranger = await api.addUser('maintainer');
  const { slug } = await addTemplate(tenant.owner, { team: tenant.team });
  return { api, tenant, viewer, stranger, template: slug };
}

export { templateSpec };

/** A spec of three nodes, of which the second and the third wait for the first. */
export function threeNodes(template: string) {
  return {
    variables: {
      type: 'object',
      properties: { name: { type: 'string' }, token: { type: 'string', writeOnly: true } },
      required: ['name'],
    },
    nodes: {
      network: { template, variables: { name: '${variables.name}' } },
      service: { template, variables: { name: '${nodes.network.outputs.cidr}' }, approval: { required: 1 } },
      check: { template, variables: { name: 'check' }, depends_on: ['network'], when: "variables.name == 'shop'" },
    },
    outputs: { cidr: '${nodes.network.outputs.cidr}' },
  };
}

let made = 0;

/** Creates an assembly with the given draft; published as 1.0.0 unless told otherwise. Answers its id. */
export async function addAssembly(
  { tenant }: PageStage,
  spec: object | string,
  { name = `Assembly ${++made}`, isPublished = true }: { name?: string; isPublished?: boolean } = {},
): Promise<string> {
  const { id } = await tenant.owner.make('/assemblies', {
    name,
    slug: `assembly-of-pages-${++made}`,
    team_id: tenant.team,
  });
  const saved = await tenant.owner.put(`/assemblies/${id}/draft`, { spec });
  if (saved.status !== 200) throw new Error(saved.text);
  if (isPublished) {
    const published = await tenant.owner.post(`/assemblies/${id}/publish`, {
      version: '1.0.0',
      changelog: 'The <first> one',
    });
    if (published.status !== 201) throw new Error(published.text);
  }
  return id;
}

/** Starts a run of an assembly, and sets how far it has come. Answers its id. */
export async function addRun(
  { api, tenant }: PageStage,
  assembly: string,
  progress?: RunProgress,
  request: object = { variables: { name: 'shop' } },
): Promise<string> {
  const body = { environment_id: tenant.environment, ...request };
  const { status, text, body: run } = await tenant.owner.post(`/assemblies/${assembly}/runs`, body);
  if (status !== 202) throw new Error(text);
  if (progress) await setProgress(api, run.id, progress);
  return run.id;
}
