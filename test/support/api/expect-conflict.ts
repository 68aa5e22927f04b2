import { expect } from 'vitest';
import type { ApiAnswer } from './in-process-api.ts';

/** Expects 409 with each of these reasons in its message. */
export function expectConflict(answer: ApiAnswer, ...reasons: string[]): void {
  expect(answer.status, answer.text).toBe(409);
  for (const reason of reasons) expect(answer.body.error).toContain(reason);
}
