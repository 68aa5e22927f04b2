import { defineWork } from '#domain/shared/evaluation/work.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { diffSpecs } from '../diff/diff.ts';
import type { Graph } from '../drawing/drawing.ts';
import { loadGraphviz } from '../drawing/graphviz.ts';
import { layOutWith } from '../drawing/layout.ts';
import { type ConditionFacts, checkCondition, evaluateCondition } from '../spec/conditions/conditions.ts';
import { examineCondition } from '../spec/conditions/satisfiability.ts';
import { readDraft } from './read-draft.ts';

/** Work on assemblies, which runs in threads because authors decide how long it takes. */

const tooCostly = (message: string) => ({ code: 'assembly_too_costly', message }) as const;

export const draftWork = defineWork({
  kind: 'read_draft',
  limitMs: 3_000,
  tooCostly: tooCostly(
    'the text of the draft took too long to read: write it as JSON, which is read much faster than YAML, or shorten it',
  ),
  answer: (source: string) => readDraft(source),
});

export const examinationWork = defineWork({
  kind: 'examine_conditions',
  limitMs: 2_000,
  tooCostly: tooCostly('the conditions of the nodes took too long to check: simplify them'),
  answer: ({ texts, variables }: { readonly texts: readonly string[]; readonly variables: JsonValue }) =>
    texts.map((text) => examineCondition(text, variables)),
});

export const conditionWork = defineWork({
  kind: 'evaluate_condition',
  limitMs: 500,
  tooCostly: tooCostly('the condition took too long to evaluate: simplify its loops, or let it read less'),
  answer: ({ text, facts }: { readonly text: string; readonly facts: ConditionFacts }) =>
    evaluateCondition(text, facts),
});

export const conditionReadingWork = defineWork({
  kind: 'read_condition',
  limitMs: 500,
  tooCostly: tooCostly('the condition took too long to read: shorten it'),
  answer: (text: string) => checkCondition(text),
});

export const diffWork = defineWork({
  kind: 'diff_specs',
  limitMs: 2_000,
  tooCostly: tooCostly('the specs took too long to compare: simplify their conditions'),
  answer: ({ before, after }: { readonly before: JsonValue; readonly after: JsonValue }) => diffSpecs(before, after),
});

export const layoutWork = defineWork({
  kind: 'lay_out',
  limitMs: 1_000,
  tooCostly: tooCostly('the graph took too long to draw'),
  prepare: loadGraphviz,
  answer: (graph: Graph, graphviz) => layOutWith(graphviz, graph),
});

export const assemblyWork = [draftWork, examinationWork, conditionWork, conditionReadingWork, diffWork, layoutWork];
