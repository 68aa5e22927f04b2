import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { checkConditions } from './checks/check-conditions.ts';
import { checkNodeVariables } from './checks/check-node-variables.ts';
import { checkNodes } from './checks/check-nodes.ts';
import { checkReferences } from './checks/check-references.ts';
import type { ConditionReport } from './conditions/satisfiability.ts';
import { nodesOfDraft, objectOf } from './draft-nodes.ts';
import type { Draft, FoundTemplate, Problems, SpecEvaluation, TemplateCatalog } from './draft-parts.ts';
import { dependenciesOf, findCycles } from './graph.ts';
import { collectProblems, describeIssues, type Problem, pointer } from './problems.ts';
import { AssemblySpec, maxNodes, noVariables } from './spec.ts';
import { findTemplates } from './templates.ts';

/** Finds all problems of the spec of an assembly at once. */

export type {
  FoundTemplate,
  MissingTemplate,
  SpecEvaluation,
  TemplateCatalog,
} from './draft-parts.ts';

export interface SpecValidation {
  readonly errors: Problem[];
  /** Problems that may make a run fail, but need not. */
  readonly warnings: Problem[];
  /** Null if its form is wrong. */
  readonly spec: AssemblySpec | null;
  /** The exact versions, by the key of the node. */
  readonly templates: Record<string, Pick<FoundTemplate, 'templateId' | 'versionId' | 'version'>>;
  /** The nodes that each node waits for: `dependenciesOf` without parsing the conditions again. */
  readonly dependencies: Record<string, string[]>;
}

export async function validateSpec(
  value: JsonValue,
  catalog: TemplateCatalog,
  evaluation: SpecEvaluation,
): Promise<SpecValidation> {
  if (Object.keys(objectOf(objectOf(value)['nodes'])).length > maxNodes) return tooManyNodes;
  const parsed = AssemblySpec.safeParse(value);
  const parts = readParts(value);
  const { nodes, variables } = parts;
  const schemaErrors = await evaluation.checkSchema(variables);
  const found = await findTemplates(parts, catalog);
  const conditions = await examineAll(nodes, variables, evaluation);
  const draft: Draft = { ...parts, templates: found.templates, conditions };
  const dependencies = dependenciesOf(draft, (key) => conditions.get(key));
  const results: Problems[] = [
    { errors: [parsed.success ? [] : describeIssues(AssemblySpec, parsed.error.issues)] },
    { errors: [schemaErrors.map(({ path, message }) => ({ path: `/variables${path}`, message }))] },
    { errors: [found.errors] },
    checkNodes(draft),
    checkReferences(draft),
    checkConditions(draft),
    { errors: [findCycles(dependencies).map(describeCycle)] },
    await checkNodeVariables(draft, evaluation),
  ];
  return {
    errors: collectProblems(results.flatMap(({ errors = [] }) => errors)),
    warnings: collectProblems(results.flatMap(({ warnings = [] }) => warnings)),
    spec: parsed.success ? parsed.data : null,
    templates: Object.fromEntries(
      [...found.templates].map(([key, { templateId, versionId, version }]) => [
        key,
        { templateId, versionId, version },
      ]),
    ),
    dependencies: Object.fromEntries([...dependencies].map(([key, needed]) => [key, [...needed]])),
  };
}

/** A spec with more nodes than the maximum is refused as a whole: examining every node would take seconds. */
const tooManyNodes: SpecValidation = {
  errors: [{ path: '/nodes', message: `must have at most ${maxNodes} nodes` }],
  warnings: [],
  spec: null,
  templates: {},
  dependencies: {},
};

/** The parts of a value that may not be a valid spec. Missing parts, and parts that are not objects, get their defaults. */
function readParts(value: JsonValue): Omit<Draft, 'templates' | 'conditions'> {
  const { variables, outputs } = objectOf(value);
  return {
    ...nodesOfDraft(value),
    variables: { ...(isJsonObject(variables) ? variables : noVariables) },
    outputs: objectOf(outputs),
  };
}

async function examineAll(
  nodes: Draft['nodes'],
  variables: JsonValue,
  evaluation: SpecEvaluation,
): Promise<Map<string, ConditionReport>> {
  const conditions = Object.entries(nodes).flatMap(([key, { when }]) =>
    when === undefined ? [] : [[key, when] as const],
  );
  const texts = [...new Set(conditions.map(([, when]) => when))];
  const reports = texts.length === 0 ? [] : await evaluation.examineConditions(texts, variables);
  const byText = new Map(texts.map((text, index) => [text, reports[index]]));
  return new Map(
    conditions.flatMap(([key, when]) => {
      const report = byText.get(when);
      return report ? [[key, report] as const] : [];
    }),
  );
}

function describeCycle(cycle: readonly string[]): Problem {
  const [first = ''] = cycle;
  const path = [...cycle, first].join(' → ');
  return {
    path: pointer('nodes', first),
    message: `waits for itself: ${path} (a cycle, in which each waits for the next); remove one of these references or dependencies`,
  };
}
