import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import { escapeReference, replaceTexts } from '../../variables/reference-syntax.ts';

/** The variables of a run that a copy takes over. */
export interface Prefill {
  readonly variables: Record<string, JsonValue>;
  /** The names of secret variables. */
  readonly secrets: string[];
}

/**
 * Separates the variables that a run shows from those that it masks. A value that looks like the mask counts as secret, and a text that
 * looks like a reference stays that text.
 */
export function prefillOf(shown: Readonly<Record<string, JsonValue | Masked>>): Prefill {
  const entries = Object.entries(shown);
  const open = entries.filter(([, value]) => !isMasked(value)) as [string, JsonValue][];
  const secrets = entries.filter(([, value]) => isMasked(value)).map(([name]) => name);
  const variables = open.map(([name, value]) => [name, replaceTexts(value, ({ text }) => escapeReference(text))]);
  return { variables: Object.fromEntries(variables), secrets };
}

function isMasked(value: JsonValue | Masked): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === 1 && 'sensitive' in value && value['sensitive'] === true;
}
