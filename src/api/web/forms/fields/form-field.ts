import type { Html } from '#api/web/html.ts';
import type { Labels } from '#api/web/plain-words.ts';
import type { NamedKind } from '#domain/searched-kinds.ts';
import { type Choice, nameOfChoice, unchosen } from './choices.ts';
import type { Matrix } from './matrix.ts';

/** One field of a form. */
export interface FormField {
  /** The path of the value in the operation's body, such as `approval_policy.required`. */
  readonly name: string;
  readonly label: string;
  readonly kind?:
    | 'text'
    | 'email'
    | 'password'
    | 'number'
    | 'area'
    | 'code'
    | 'select'
    | 'radio'
    | 'checkbox'
    | 'hidden'
    | 'date'
    | 'datetime'
    | 'files'
    | 'folder'
    | 'matrix';
  /** The title of a part that contains the field. The part is closed unless the field has a problem. */
  readonly foldedAs?: string | undefined;
  /** What the value means, or how it should look. */
  readonly hint?: Html | string;
  /** Content below the field, such as a list of valid values. */
  readonly below?: Html;
  readonly value?: string | undefined;
  readonly isOptional?: boolean;
  /** For `checkbox`: it turns something on and off. */
  readonly isSwitch?: boolean;
  /** The field belongs to the switch before it, and says why the switch is off. It is hidden while the switch is on. */
  readonly isReasonOfSwitch?: boolean;
  /** The value may be a secret: the browser keeps no copy of it. */
  readonly isSecret?: boolean;
  /**
   * The browser does not keep what is typed, because a confirmation is about what the form shows now. For a hidden field: its value does
   * not identify what the form is about.
   */
  readonly isUnkept?: boolean;
  readonly choices?: readonly Choice[];
  /** The select does not offer all choices. It then suggests names, and also accepts the name or the id of another choice. */
  readonly isCut?: boolean;
  /**
   * The kinds of the choices. A typed name is searched only among these kinds, or among all if they are undefined. If the list is empty,
   * the choices do not stand for resources, and any text is valid.
   */
  readonly choiceKinds?: readonly NamedKind[] | undefined;
  /** For `text`: values that are suggested while somebody types. Others are valid too. */
  readonly suggestions?: readonly Choice[];
  /** For `matrix`. */
  readonly matrix?: Matrix;
  /** For `area`: the text is a list as `readWords` reads it, so problems name lines. */
  readonly isWordList?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly autocomplete?: string;
  /** The name of the form, if the page has several. `renderForm` sets it. */
  readonly form?: string | undefined;
}

/** What the form sends for a value: a select that does not offer all choices sends names. */
export function sentValue({
  kind,
  isCut,
  choices = [],
  value = '',
}: Pick<FormField, 'kind' | 'isCut' | 'choices' | 'value'>): string {
  return kind === 'select' && isCut && value !== '' ? nameOfChoice(choices, value) : value;
}

/** Preselects the choice of a required field that has only one. */
export function withOnlyChoice(field: FormField): FormField {
  const { kind, isOptional, isCut, choices = [] } = field;
  if ((kind !== 'select' && kind !== 'radio') || isOptional || isCut) return field;
  const real = choices.filter((choice) => choice !== unchosen);
  const [only] = real;
  return real.length === 1 && only ? { ...field, choices: real, value: only.value } : field;
}

/** The labels of a form's fields, by name and by the last part of the name. */
export function labelsOf(fields: readonly FormField[]): Labels {
  const visible = fields.filter(({ kind }) => kind !== 'hidden');
  const last = (name: string) => name.split('.').at(-1) ?? name;
  return new Map(
    visible.flatMap(
      ({ name, label }) =>
        [
          [last(name), label],
          [name, label],
        ] as const,
    ),
  );
}
