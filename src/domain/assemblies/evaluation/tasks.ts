import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AssemblyDiff } from '../diff/diff.ts';
import type { Drawing, Graph } from '../drawing/drawing.ts';
import type { ConditionFacts, evaluateCondition } from '../spec/conditions/conditions.ts';
import type { ConditionReport } from '../spec/conditions/satisfiability.ts';

/** What threads do for assemblies: their authors decide how long it takes. */
export interface AssemblyEvaluations {
  readonly read_draft: { readonly task: { readonly source: string }; readonly result: ReadDraft };
  readonly examine_conditions: {
    readonly task: { readonly texts: readonly string[]; readonly variables: JsonValue };
    readonly result: ConditionReport[];
  };
  readonly evaluate_condition: {
    readonly task: { readonly text: string; readonly facts: ConditionFacts };
    readonly result: ReturnType<typeof evaluateCondition>;
  };
  readonly diff: {
    readonly task: { readonly before: JsonValue; readonly after: JsonValue };
    readonly result: AssemblyDiff;
  };
  readonly lay_out: { readonly task: { readonly graph: Graph }; readonly result: Drawing };
}

export type AssemblyTask = {
  readonly [K in keyof AssemblyEvaluations]: { readonly kind: K } & AssemblyEvaluations[K]['task'];
}[keyof AssemblyEvaluations];

/** A draft as a thread reads it. A class and a function cannot leave their thread. */
export type ReadDraft =
  | {
      readonly value: JsonValue /** By JSON pointer, of members and of those inside them. */;
      readonly lines: ReadonlyMap<string, number>;
    }
  | { readonly unreadable: { readonly message: string; readonly line: number; readonly column: number } };
