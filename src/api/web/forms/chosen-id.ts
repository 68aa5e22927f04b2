import { isId } from '#domain/shared/ids.ts';
import type { Visit } from '../visit/visit.ts';

/**
 * Reads the id that was chosen in a field. If none was, returns null and adds a problem to the visit. @param bodyPaths as for `addProblem`
 */
export function readChosenId(visit: Visit, field: string, typed = '', ...bodyPaths: string[]): string | null {
  const id = typed.trim();
  if (isId(id)) return id;
  visit.addMissing(field, 'choose one', ...bodyPaths);
  return null;
}
