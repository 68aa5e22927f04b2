import { isId } from '#domain/shared/ids.ts';
import type { Visit } from '../visit/visit.ts';

/** The id that was chosen in a field. Null if none was: then the visit has that problem. @param bodyPath as `addProblem` takes it */
export function readChosenId(visit: Visit, field: string, typed = '', bodyPath = field): string | null {
  const id = typed.trim();
  if (isId(id)) return id;
  visit.addProblem(field, 'choose one', bodyPath);
  return null;
}
