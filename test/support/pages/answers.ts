import type { ApiAnswer } from '../api/in-process-api.ts';

/** The body of an answer. @throws Error if the answer has another status */
export function required(answer: ApiAnswer, status: number): ApiAnswer['body'] {
  if (answer.status === status) return answer.body;
  throw new Error(`expected ${status}, and the answer was ${answer.status}: ${answer.text}`);
}
