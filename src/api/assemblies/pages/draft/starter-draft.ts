import { list as listTemplates } from '#api/registry/template-operations.ts';
import { get as getVersion } from '#api/registry/version-operations.ts';
import type { Visit } from '#api/web/visit/visit.ts';

/** The example in the editor before anybody saves a draft, for a team without a template for one. */
const emptyDraft = `# What a run is asked for, as JSON Schema.
variables:
  type: object
  properties:
    name: {type: string}

# Each node deploys a template. References make it wait for other nodes.
nodes:
  network:
    template: network
    variables:
      name: \${variables.name}
  service:
    template: service
    variables:
      subnet: \${nodes.network.outputs.subnet}
    # approval: {required: 1}

outputs:
  address: \${nodes.service.outputs.address}
`;

/** The template with which a team's draft can start. */
interface Beginning {
  readonly template: string;
  /** The schemas of the variables that a run of the template needs. */
  readonly needed: Readonly<Record<string, unknown>>;
}

/**
 * The draft in the editor before anybody saves one. It is valid, and uses a template of the team. If the team has no suitable template, it
 * is a commented example.
 */
export async function writeStarterDraft(visit: Visit, { team_id }: { readonly team_id: string }): Promise<string> {
  const beginning = await findBeginning(visit, team_id);
  return beginning ? writeDraft(beginning) : emptyDraft;
}

async function findBeginning(visit: Visit, teamId: string): Promise<Beginning | null> {
  if (!visit.mayDo(listTemplates).allowed) return null;
  const query = { team_id: teamId, with_installation: 'true', limit: '20' };
  const { templates } = await visit.read(listTemplates, { query });
  const published = templates.filter(({ latest_version: version }) => version !== null);
  const chosen = published.find(({ team_id: owner }) => owner !== null) ?? published[0];
  if (!chosen?.latest_version) return null;
  const { spec } = await visit.read(getVersion, { params: { id: chosen.id, version: chosen.latest_version } });
  const needed = findNeeded(spec.variables);
  return needed && { template: chosen.slug, needed };
}

/** Finds the required variables. Null if a schema refers to another part of the template's schema, which the draft would not have. */
function findNeeded(variables: unknown): Record<string, unknown> | null {
  const { properties = {}, required = [] } = Object(variables) as { properties?: object; required?: readonly string[] };
  const schemas: Readonly<Record<string, unknown>> = { ...properties };
  const needed = Object.fromEntries(
    required.flatMap((name) => (Object(schemas[name]).default === undefined ? [[name, schemas[name] ?? {}]] : [])),
  );
  return JSON.stringify(needed).includes('"$ref"') ? null : needed;
}

function writeDraft({ template, needed }: Beginning): string {
  const names = Object.keys(needed);
  const properties = names.map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(needed[name])}\n`).join('');
  const values = names.map((name) => `      ${JSON.stringify(name)}: \${variables.${name}}\n`).join('');
  return `# What a run is asked for, as JSON Schema.
variables:
  type: object
  properties:${names.length === 0 ? ' {}\n' : `\n${properties}`}${names.length === 0 ? '' : `  required: ${JSON.stringify(names)}\n`}
# Each node deploys a template. A node that uses another one's output, such as
# \${nodes.${template}.outputs.address}, waits for it.
nodes:
  ${template}:
    template: ${template}
${names.length === 0 ? '' : `    variables:\n${values}`}    # approval: {required: 1}
`;
}
