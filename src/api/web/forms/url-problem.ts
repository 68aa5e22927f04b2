import { explainUrl } from '#domain/shared/outbound/outbound.ts';
import type { Visit } from '../visit/visit.ts';

/**
 * Checks the syntax of a URL, and adds its problem to the visit, so that the form shows it together with the problems of other fields. Only
 * the operation looks up the host. The schema refuses an empty URL.
 */
export function addUrlProblem(visit: Visit<unknown>, field: string, url: string | undefined): void {
  const problem = url ? explainUrl(url) : null;
  if (problem !== null) visit.addProblem(field, problem);
}
