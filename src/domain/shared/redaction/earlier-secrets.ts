import type { JsonValue } from '#domain/shared/values/json.ts';
import { type Redactor, SecretsTooLarge } from './redactor.ts';

/**
 * Secrets of earlier runs that a state or a log may contain, besides those of its reader. They are used only to redact output, and no
 * program gets them.
 */
export interface EarlierSecrets {
  readonly values: readonly JsonValue[];
  /** Whether there are too many to redact. If so, do not show any output. */
  readonly areTooMany: boolean;
}

/**
 * Makes a redactor redact earlier secrets from now on. If there are too many, it redacts every text instead of failing, so that people can
 * still destroy what they deployed.
 */
export function learnEarlierSecrets(redactor: Redactor, { values, areTooMany }: EarlierSecrets): void {
  try {
    for (const value of values) redactor.learn(value);
  } catch (error) {
    if (!(error instanceof SecretsTooLarge)) throw error;
    redactor.hideAll();
  }
  if (areTooMany || !redactor.hasRoom) redactor.hideAll();
}
