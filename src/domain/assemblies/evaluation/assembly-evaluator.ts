import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import { isLargerThan } from '#domain/registry/variables/json-size.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AssemblyDiff } from '../diff/diff.ts';
import { drawGraph } from '../drawing/draw.ts';
import type { Drawing, Graph } from '../drawing/drawing.ts';
import {
  type CheckedCondition,
  type ConditionFacts,
  checkCondition,
  evaluateCondition,
} from '../spec/conditions/conditions.ts';
import { DraftUnreadable, type ParsedDraft } from '../spec/text/parse.ts';
import type { SpecEvaluation } from '../spec/validate.ts';
import { conditionReadingWork, conditionWork, diffWork, draftWork, examinationWork, layoutWork } from './work.ts';

/**
 * Runs costly work on assemblies in threads on behalf of a subject, with a time limit. The work uses the same processor budget as schemas.
 * All functions throw what `Evaluator.run` throws.
 */
export class AssemblyEvaluator implements SpecEvaluation {
  readonly #evaluator: Evaluator;
  readonly #subject: LimitSubject;
  readonly #schemas: VariableEvaluator;

  constructor(evaluator: Evaluator, subject: LimitSubject) {
    this.#evaluator = evaluator;
    this.#subject = subject;
    this.#schemas = new VariableEvaluator(evaluator, subject);
  }

  readonly checkSchema: SpecEvaluation['checkSchema'] = (schema) => this.#schemas.check(schema);

  readonly validateVariables: SpecEvaluation['validateVariables'] = (schema, inputs) =>
    this.#schemas.validateEach(schema, inputs);

  readonly examineConditions: SpecEvaluation['examineConditions'] = (texts, variables) =>
    this.#evaluator.run(this.#subject, examinationWork, { texts, variables });

  /** `parseDraft`. @throws DraftUnreadable */
  async parseDraft(source: string): Promise<ParsedDraft> {
    const read = await this.#evaluator.run(this.#subject, draftWork, source);
    if ('unreadable' in read) throw new DraftUnreadable(read.unreadable.message, read.unreadable);
    return { value: read.value, lineOf: (path) => nearestLine(read.lines, path) };
  }

  /** `checkCondition`. Short conditions are read at once. */
  async readCondition(text: string): Promise<CheckedCondition> {
    if (text.length <= cheapText) return checkCondition(text);
    return this.#evaluator.run(this.#subject, conditionReadingWork, text);
  }

  /** `evaluateCondition`. Cheap conditions over few facts are evaluated at once. */
  async evaluateCondition(text: string, facts: ConditionFacts): Promise<ReturnType<typeof evaluateCondition>> {
    if (isCheap(text, facts)) return evaluateCondition(text, facts);
    return this.#evaluator.run(this.#subject, conditionWork, { text, facts });
  }

  /** `diffSpecs` */
  diff(before: JsonValue, after: JsonValue): Promise<AssemblyDiff> {
    return this.#evaluator.run(this.#subject, diffWork, { before, after });
  }

  /** `drawGraph` */
  drawGraph(graph: Graph): Promise<Drawing> {
    return drawGraph(graph, () => this.#evaluator.run(this.#subject, layoutWork, graph));
  }
}

/**
 * Without loops and patterns, the time depends only on the sizes of the text and the facts. The parser takes some 10 ms for such a text at
 * worst.
 */
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
