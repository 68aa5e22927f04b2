import type { VariableEvaluator } from '#domain/registry/evaluation/evaluator.ts';
import { isLargerThan } from '#domain/registry/variables/json-size.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AssemblyDiff } from '../diff/diff.ts';
import { drawGraph } from '../drawing/draw.ts';
import type { Drawing, Graph } from '../drawing/drawing.ts';
import { type ConditionFacts, evaluateCondition } from '../spec/conditions/conditions.ts';
import { DraftUnreadable, type ParsedDraft } from '../spec/text/parse.ts';
import type { SpecEvaluation } from '../spec/validate.ts';

/**
 * What may take long with assemblies, done by threads on behalf of a principal: with a time limit, and out of the processor budget
 * that the principal has for schemas, too. All functions throw what `VariableEvaluator.validate` throws.
 */
export class AuthorEvaluation implements SpecEvaluation {
  readonly #evaluator: VariableEvaluator;
  readonly #principalId: string;

  constructor(evaluator: VariableEvaluator, principalId: string) {
    this.#evaluator = evaluator;
    this.#principalId = principalId;
  }

  readonly checkSchema: SpecEvaluation['checkSchema'] = (schema) => this.#evaluator.check(this.#principalId, schema);

  readonly validateVariables: SpecEvaluation['validateVariables'] = (schema, input) =>
    this.#evaluator.validate(this.#principalId, schema, input);

  readonly examineConditions: SpecEvaluation['examineConditions'] = (texts, variables) =>
    this.#evaluator.run(this.#principalId, { kind: 'examine_conditions', texts, variables });

  /** `parseDraft`. @throws DraftUnreadable */
  async parseDraft(source: string): Promise<ParsedDraft> {
    const read = await this.#evaluator.run(this.#principalId, { kind: 'read_draft', source });
    if ('unreadable' in read) throw new DraftUnreadable(read.unreadable.message, read.unreadable);
    return { value: read.value, lineOf: (path) => nearestLine(read.lines, path) };
  }

  /** `evaluateCondition`. Cheap conditions over few facts are evaluated at once. */
  async evaluateCondition(text: string, facts: ConditionFacts): Promise<ReturnType<typeof evaluateCondition>> {
    if (isCheap(text, facts)) return evaluateCondition(text, facts);
    return this.#evaluator.run(this.#principalId, { kind: 'evaluate_condition', text, facts });
  }

  /** `diffSpecs` */
  diff(before: JsonValue, after: JsonValue): Promise<AssemblyDiff> {
    return this.#evaluator.run(this.#principalId, { kind: 'diff', before, after });
  }

  /** `drawGraph` */
  drawGraph(graph: Graph): Promise<Drawing> {
    return drawGraph(graph, () => this.#evaluator.run(this.#principalId, { kind: 'lay_out', graph }));
  }
}

/** Without loops and patterns, time grows with the text and the facts alone. The parser takes some 10 ms for such a text at worst. */
const cheapText = 500;
const costlyWord = /\b(all|exists|exists_one|map|filter|matches)\b/;
const cheapFacts = { values: 1_000, depth: 20, bytes: 16 * 1024 };

function isCheap(text: string, facts: ConditionFacts): boolean {
  return text.length <= cheapText && !costlyWord.test(text) && !isLargerThan(facts, cheapFacts);
}

function nearestLine(lines: ReadonlyMap<string, number>, path: string): number | null {
  for (let inner = path; inner !== ''; inner = inner.slice(0, inner.lastIndexOf('/'))) {
    const line = lines.get(inner);
    if (line !== undefined) return line;
  }
  return lines.get('') ?? null;
}
