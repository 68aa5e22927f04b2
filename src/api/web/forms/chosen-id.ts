import { isId } from '#domain/shared/ids.ts';
import type { Visit } from '../visit/visit.ts';

/** The id that was chosen in a field. Null if none was: then the visit has that problem. @param bodyPaths as `addProblem` takes them */
export function readChosenId(visit: Visit, field: string, typed = '', ...bodyPaths: string[]): string | null {
  const id = typed.trim();
  if (isId(id)) return id;
  visit.addMissing(field, 'choose one', ...bodyPaths);
  return null;
}
