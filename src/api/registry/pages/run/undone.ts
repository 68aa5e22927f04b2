import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { getAttempt } from '#api/undo/operations.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import type { Values } from './compared.ts';

/** An attempt to undo a run, whose earlier values fill in the form. */
export type UndoneRun = Pick<EncodedAnswerOf<(typeof getAttempt)['responses']>, 'run_id' | 'changes'>;

/** Reads the attempt that the address names. Null if it names none of this instance, or none that the visitor may read. */
export async function readUndone(visit: Visit, instanceId: string): Promise<UndoneRun | null> {
  const id = visit.query('undo');
  const attempt = id ? await orNull(visit.read(getAttempt, { params: { id } })) : null;
  return attempt?.instance_id === instanceId ? attempt : null;
}

/** The deployed values, except that values which the undone run changed are those from before it. Secrets are not included. */
export function takeBack(deployed: Values, undone: UndoneRun | null): Values {
  const values = structuredClone(deployed) as Record<string, JsonValue>;
  for (const { path, to } of undone?.changes ?? []) {
    const [kind, ...names] = splitPointer(path);
    if (kind === 'variables' && !isMasked(to)) place(values, names, to);
  }
  return values;
}

function place(
  values: Record<string, JsonValue>,
  [name = '', ...below]: readonly string[],
  to: JsonValue | undefined,
): void {
  if (below.length > 0) {
    const inner = values[name];
    if (isJsonObject(inner)) place(inner as Record<string, JsonValue>, below, to);
  } else if (to === undefined) delete values[name];
  else values[name] = to;
}

/** Whether a value is a masked secret. */
function isMasked(value: JsonValue | undefined): boolean {
  return value !== undefined && isJsonObject(value) && value['sensitive'] === true;
}
