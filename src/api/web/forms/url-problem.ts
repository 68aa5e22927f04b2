import { explainUrl } from '#domain/shared/outbound/outbound.ts';
import type { Visit } from '../visit/visit.ts';

/**
 * Keeps what is wrong with the form of a URL until `run`, so that the form names it beside the problems of its other fields. Its host is looked up by
 * the operation alone, and an empty URL is refused by the schema.
 */
export function addUrlProblem(visit: Visit<unknown>, field: string, url: string | undefined): void {
  const problem = url ? explainUrl(url) : null;
  if (problem !== null) visit.addProblem(field, problem);
}
