import type { FormField } from './form-field.ts';
import { yesIf } from './yes.ts';

/** A box. `isYes` reads what it sends. */
export function checkboxField(
  name: string,
  label: string,
  isChecked = false,
  more: Partial<FormField> = {},
): FormField {
  return { name, label, kind: 'checkbox', value: yesIf(isChecked), ...more };
}
