import { runWithin } from '#domain/registry/variables/time-limit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { diffSpecs } from '../diff/diff.ts';
import { loadGraphviz } from '../drawing/graphviz.ts';
import { layOutWith } from '../drawing/layout.ts';
import { evaluateCondition } from '../spec/conditions/conditions.ts';
import { examineCondition } from '../spec/conditions/satisfiability.ts';
import { pointer } from '../spec/problems.ts';
import { DraftUnreadable, type ParsedDraft, parseDraft } from '../spec/text/parse.ts';
import type { AssemblyEvaluations, AssemblyTask, ReadDraft } from './tasks.ts';

/** What a thread answers. */

const milliseconds: Readonly<Record<keyof AssemblyEvaluations, number>> = {
  read_draft: 3_000,
  examine_conditions: 2_000,
  evaluate_condition: 500,
  diff: 2_000,
  lay_out: 1_000,
};

export function isOfAssembly(task: { readonly kind: string }): task is AssemblyTask {
  return Object.hasOwn(milliseconds, task.kind);
}

/** @throws TimeLimitExceeded */
export async function answerForAssembly(task: AssemblyTask) {
  const graphviz = task.kind === 'lay_out' ? await loadGraphviz() : null;
  return runWithin(milliseconds[task.kind], () => {
    switch (task.kind) {
      case 'read_draft':
        return read(task.source);
      case 'examine_conditions':
        return task.texts.map((text) => examineCondition(text, task.variables));
      case 'evaluate_condition':
        return evaluateCondition(task.text, task.facts);
      case 'diff':
        return diffSpecs(task.before, task.after);
      case 'lay_out':
        if (!graphviz) throw new Error('Graphviz was not loaded');
        return layOutWith(graphviz, task.graph);
    }
  });
}

function read(source: string): ReadDraft {
  try {
    const draft = parseDraft(source);
    return { value: draft.value, lines: findLines(draft) };
  } catch (error) {
    if (!(error instanceof DraftUnreadable)) throw error;
    const { message, line, column } = error;
    return { unreadable: { message, line, column } };
  }
}

/** Problems lie in nodes and their fields: deeper members have the line of the field. */
const deepestLine = 4;
const mostLines = 20_000;

function findLines({ value, lineOf }: ParsedDraft): Map<string, number> {
  const lines = new Map<string, number>();
  const add = (member: JsonValue, path: string, depth: number): void => {
    if (lines.size === mostLines) return;
    const line = lineOf(path);
    if (line !== null) lines.set(path, line);
    if (typeof member !== 'object' || member === null || depth === deepestLine) return;
    for (const [name, inner] of Object.entries(member)) add(inner, path + pointer(name), depth + 1);
  };
  add(value, '', 0);
  return lines;
}
