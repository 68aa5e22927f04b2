import type { z } from 'zod';
import { bodyFields } from '#api/web/forms/body-fields.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { CreateNamed } from '../bodies.ts';

/** The fields of a body with a name and a slug. @param current the thing, if it exists already */
export function nameFields(current?: object, body: z.ZodRawShape = CreateNamed.shape): FormField[] {
  const hint = current
    ? 'Used in addresses and commands.'
    : 'Used in addresses and commands, such as core-network. Leave empty to derive it from the name.';
  return bodyFields(body, { slug: { hint } }, { ...current });
}
