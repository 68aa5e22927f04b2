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
  /** The field is in a part with this title, which is closed while the field has no problem. */
  readonly foldedAs?: string | undefined;
  /** What the value means, or how it should look. */
  readonly hint?: Html | string;
  /** Stands below the field, such as a list of what may be entered. */
  readonly below?: Html;
  readonly value?: string | undefined;
  readonly isOptional?: boolean;
  /** Of the kind `checkbox`: turns something on and off. */
  readonly isSwitch?: boolean;
  /** The field follows a switch, and says why that is off. While it is on, the field is out of sight. */
  readonly isReasonOfSwitch?: boolean;
  /** The value may be a secret: the browser keeps no copy of it. */
  readonly isSecret?: boolean;
  /** The browser does not keep what is typed: a confirmation holds for what the form shows now. A hidden field: it is not what the form is about. */
  readonly isUnkept?: boolean;
  readonly choices?: readonly Choice[];
  /** A select has more choices than these. It then offers their names, and takes the name or the id of another, too. */
  readonly isCut?: boolean;
  /** Of which kinds the choices are. Names of others are looked for among these kinds alone; without them, among all. None: the choices are no things, so another text is a value. */
  readonly choiceKinds?: readonly NamedKind[] | undefined;
  /** Of the kind `text`: values that are offered while somebody types. Others may be typed too. */
  readonly suggestions?: readonly Choice[];
  /** Of the kind `matrix`. */
  readonly matrix?: Matrix;
  /** Of the kind `area`: it holds a list, as `readWords` reads it, so its problems name lines. */
  readonly isWordList?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly autocomplete?: string;
  /** The name of the form, if the page has several. `renderForm` sets it. */
  readonly form?: string | undefined;
}

/** What the form sends for the value of a field: a select that offers only some of its choices sends names. */
export function sentValue({
  kind,
  isCut,
  choices = [],
  value = '',
}: Pick<FormField, 'kind' | 'isCut' | 'choices' | 'value'>): string {
  return kind === 'select' && isCut && value !== '' ? nameOfChoice(choices, value) : value;
}

/** A field that must be filled in and has a single choice has it chosen. */
export function withOnlyChoice(field: FormField): FormField {
  const { kind, isOptional, isCut, choices = [] } = field;
  if ((kind !== 'select' && kind !== 'radio') || isOptional || isCut) return field;
  const real = choices.filter((choice) => choice !== unchosen);
  const [only] = real;
  return real.length === 1 && only ? { ...field, choices: real, value: only.value } : field;
}

/** What the fields of a form are called, by their names and by the last parts of these. */
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
