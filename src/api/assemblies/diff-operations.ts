import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import type { Em } from '#database/database.ts';
import { type ChosenTemplates, withTemplateChanges } from '#domain/assemblies/diff/template-changes.ts';
import { chooseTemplates } from '#domain/assemblies/drafts/catalog.ts';
import { findDraft } from '#domain/assemblies/drafts/drafts.ts';
import { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { type AssemblyTarget, findAssembly } from '#domain/assemblies/store.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { draftAccess, nestedReadAccess } from './access.ts';
import { drawDiff } from './graph/spec-graph.ts';
import { answerPicture, svg } from './graph/svg-graph.ts';
import { AssemblyParams } from './operations.ts';
import { loadNamed } from './version-operations.ts';

const draft = 'draft';
const Side = z.string().min(1).max(128).describe('A version, a range such as ^1.2, `latest`, or `draft`.');

const FieldChange = z.object({
  path: z.string().describe('A JSON pointer, from the node for a field of a node, else from the spec.'),
  before: z.unknown().optional().describe('Absent: the field was added.'),
  after: z.unknown().optional().describe('Absent: the field was removed.'),
});
const Edge = z.object({ from: z.string(), to: z.string().describe('The node that waits for the other.') });

const DiffView = z
  .object({
    from: z.string().describe('The exact version, or `draft`.'),
    to: z.string(),
    nodes: z.array(
      z.object({ key: z.string(), change: z.enum(['added', 'removed', 'changed']), fields: z.array(FieldChange) }),
    ),
    fields: z.array(FieldChange).describe('What differs beside the nodes: variables, outputs, concurrency.'),
    edges: z.object({ added: z.array(Edge), removed: z.array(Edge) }),
  })
  .meta({ id: 'AssemblyDiff' });

/** An assembly, of which two specs are compared. */
interface Comparison extends AssemblyTarget {
  readonly comparesDraft: boolean;
}

export const diff = read({
  id: 'assemblies.diff',
  route: 'GET /api/v1/assemblies/:id/diff',
  summary: 'Compare two versions of an assembly, or a version with the draft',
  description:
    'Comparing with the draft takes the same authority as changing the assembly. A field that holds its default equals one that is left ' +
    'out. The fields `/template_version` and `/template_id` of a node are what its `version` and `template` stood for when the version was ' +
    'published. For the draft, they are resolved at the time of the request.',
  params: AssemblyParams,
  query: z.strictObject({ from: Side, to: Side }),
  responses: { 200: DiffView },
  produces: { [svg]: 'Both graphs in one, with what was added, removed and changed.' },
  // A review cannot name the two sides of a comparison. Reviews of `get` and `update` answer for each side.
  access: { ...nestedReadAccess, review: 'none' },
  accessTo: ({ comparesDraft }: Comparison) => (comparesDraft ? draftAccess : nestedReadAccess),
  target: async ({ em, params, query }): Promise<Comparison | undefined> => {
    const found = await findAssembly(em, params.id);
    return found && { ...found, comparesDraft: query.from === draft || query.to === draft };
  },
  targetName: 'assembly',
  handle: async ({ em, target, query, request, principal, services }) => {
    const [from, to] = await Promise.all([load(em, target, query.from), load(em, target, query.to)]);
    const evaluator = new AssemblyEvaluator(services.evaluator, limitSubjectOfCaller(principal));
    const changes = withTemplateChanges(await evaluator.diff(from.spec, to.spec), from.templates, to.templates);
    if (request.mediaType === svg) return answerPicture(await drawDiff(evaluator, from, to, changes));
    const { added, removed } = changes.edges;
    const edges = { added: added.map(toEdge), removed: removed.map(toEdge) };
    return { from: from.name, to: to.name, ...changes, edges };
  },
});

function toEdge([from, to]: readonly [string, string]) {
  return { from, to };
}

interface ComparedSpec {
  readonly name: string;
  readonly spec: JsonValue;
  readonly templates: ChosenTemplates;
}

/** Reads one side of a comparison. @throws ServiceError (404) if there is no such version, or no draft */
async function load(em: Em, { assembly: { id }, teamId }: AssemblyTarget, wanted: string): Promise<ComparedSpec> {
  if (wanted === draft) {
    const { spec } = await findDraft(em, id);
    return { name: draft, spec, templates: await chooseTemplates(em, teamId, spec) };
  }
  const { version, spec, templates } = await loadNamed(em, id, wanted);
  return { name: version, spec, templates };
}
