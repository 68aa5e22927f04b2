import type { JsonValue } from '#domain/shared/values/json.ts';
import { type Redactor, SecretsTooLarge } from './redactor.ts';

/** Secrets that what is read may hold, beside those of whoever reads it. They are looked for in what is shown, and given to no program. */
export interface EarlierSecrets {
  readonly values: readonly JsonValue[];
  /** Whether there are more than are looked for. Then nothing that is read may be shown. */
  readonly areTooMany: boolean;
}

/** Redacts earlier secrets from now on. Where there is no room for all of them, everything is redacted: they keep nobody from destroying what they deployed. */
export function learnEarlierSecrets(redactor: Redactor, { values, areTooMany }: EarlierSecrets): void {
  try {
    for (const value of values) redactor.learn(value);
  } catch (error) {
    if (!(error instanceof SecretsTooLarge)) throw error;
    redactor.hideAll();
  }
  if (areTooMany || !redactor.hasRoom) redactor.hideAll();
}
