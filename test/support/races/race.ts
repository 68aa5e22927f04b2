import { type ApiAnswer, ApiUser, type TestApi } from '../api/in-process-api.ts';
import { HeldStatement, untilBlocked } from '../database/held-statement.ts';

/**
 * How two commands at two services meet. `meanwhile`: the rival is carried out after the use has been authorized and before its transaction begins.
 * `use first`: the use has decided everything and not committed yet. `rival first`: the other way round.
 */
export const orders = ['meanwhile', 'use first', 'rival first'] as const;
export type Order = (typeof orders)[number];

export interface Raced {
  readonly used: ApiAnswer;
  readonly rival: ApiAnswer;
}

/** Two services, each with a pool of connections of its own, on one database. */
export interface Services {
  readonly here: TestApi;
  readonly there: TestApi;
}

/** Has the use sent here and the rival there, so that they meet as the order says. */
export async function race(
  { here, there }: Services,
  order: Order,
  use: () => Promise<ApiAnswer>,
  rival: () => Promise<ApiAnswer>,
): Promise<Raced> {
  const [one, other] = order === 'rival first' ? [rival, use] : [use, rival];
  const holder = order === 'rival first' ? there : here;
  const held = await HeldStatement.at(holder.services.orm, order === 'meanwhile' ? 'begin' : 'commit');
  try {
    const first = one();
    // A command that ends without such a statement was refused before: then nothing is held.
    await Promise.race([held.reached, first]);
    const second = other();
    // Nothing holds locks before the transaction begins, so the rival ends.
    if (order === 'meanwhile') await second;
    else await untilBlocked(holder.services.orm, second);
    held.release();
    const [answer, answerOfOther] = await Promise.all([first, second]);
    return order === 'rival first' ? { used: answerOfOther, rival: answer } : { used: answer, rival: answerOfOther };
  } finally {
    held.release();
  }
}

/** The same user at another service. */
export function at(api: TestApi, user: ApiUser): ApiUser {
  return new ApiUser(api, user.credential, user);
}

/** An answer in a word, such as `409 archived` or `202`. */
export function outcomeOf({ status, headers }: ApiAnswer): string {
  return [status, headers['x-error-code']].filter((part) => part !== undefined).join(' ');
}
