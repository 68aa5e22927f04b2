import { z } from 'zod';
import { principalKinds } from '#domain/shared/vocabulary/roles.ts';

/** A member of the answer of a command that makes a one-time link. */
export const Emailed = z
  .boolean()
  .describe(
    'Whether the link is also sent by e-mail. It is not where no mail server is set (`COORDINATOR_SMTP_URL`), and not to an address that has got too many mails today.',
  );

/** A time: RFC 3339, UTC. Entities have dates, and query results have PostgreSQL's own text. */
export const Time = z.codec(z.iso.datetime(), z.union([z.date(), z.string()]), {
  decode: (text) => new Date(text),
  encode: (time) => new Date(time).toISOString(),
});

/** A query parameter that may be repeated, each with one value: `status=failed&status=running`. */
export function repeated<Item extends z.ZodType>(item: Item, { max }: { max: number }) {
  const toList = (given: unknown) => (given === undefined || Array.isArray(given) ? given : [given]);
  return z.preprocess(toList, z.array(item).min(1).max(max).optional());
}

/** An id in an answer. Ids in requests are validated by `Id`; those in answers come from the database. */
export const AnswerId = z.string().meta({ format: 'uuid' });

/** A flag in a query. */
export const Flag = z.enum(['true', 'false']);

/** Describes the codes of a table, each with its message. */
export function describeCodes(messages: Readonly<Record<string, string>>): string {
  return Object.entries(messages)
    .map(([code, message]) => `\`${code}\`: ${message.replace(/\.$/, '')}.`)
    .join(' ');
}

/** Members that a body may have because the answer of its read has them. A client may send back what it read, and they are ignored. */
export function readOnly<const Names extends readonly string[]>(...names: Names) {
  const ignored = z.unknown().optional().describe('As it was read. It is ignored.');
  return Object.fromEntries(names.map((name) => [name, ignored])) as Record<Names[number], typeof ignored>;
}

/** An answer without a body. */
export const Nothing = z.undefined().describe('Done. The answer has no body.');

/** The schema of a resource's `actions` (`Action` in the domain), given the names of its actions. */
export function actionsView<const Names extends readonly string[]>(names: Names) {
  const action = z.object({ name: z.enum(names), allowed: z.boolean(), reason: z.string().nullable() });
  return z
    .array(action)
    .describe(
      'What you may do with the resource now, given your authority and its state. The operation itself decides again, in ' +
        'the same way. `reason` is the message with which the operation would refuse, or null if the action is allowed. Where the ' +
        'operation would answer 404 because you lack a permission, `reason` names that permission.',
    );
}

/** The schema of a code. `messages` has the possible codes, and the document explains each of them. */
export function codeOf<Code extends string>(messages: Readonly<Record<Code, string>>) {
  const codes = Object.keys(messages) as [Code, ...Code[]];
  return z.enum(codes).describe(codes.map((code) => `\`${code}\`: ${messages[code]}.`).join(' '));
}

/** One page of a list: the items, and the cursor of the next page or null. (specification, *Conventions*) */
export function pageOf<Name extends string, S extends z.ZodType>(name: Name, item: S) {
  const page = z.object({
    [name]: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .describe(
        'Send it as `cursor` to get the next page. Null: there is none. A page may have fewer items than `limit` and not be the last: it ends before it would be larger than 1 MiB.',
      ),
  } as { [K in Name]: z.ZodArray<S> } & { next_cursor: z.ZodNullable<z.ZodString> });
  const id = item.meta()?.id;
  return id === undefined ? page : page.meta({ id: `${id}Page` });
}

/** Who did something. */
export const By = z.object({ type: z.enum(principalKinds), id: z.string(), name: z.string() }).meta({ id: 'Actor' });
