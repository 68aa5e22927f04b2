import { expect, it } from 'vitest';
import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';

/** Declarations that must not compile. `tsc` fails for an `@ts-expect-error` without an error. */

const Thing = z.object({ name: z.string(), size: z.enum(['small', 'large']) });
const params = z.strictObject({ id: z.string() });
const access = { public: 'a test' };
const route = 'POST /things';
const made = { id: 'things.make', route, summary: '', access, audit: 'thing.made', idempotency: 'none' } as const;
const looked = { id: 'things.get', route: 'GET /things/:id', summary: '', access, params } as const;
const small = { name: 'a', size: 'small' } as const;

const getThing = read({ ...looked, responses: { 200: Thing }, handle: async () => small });
const getPart = read({
  ...looked,
  params: z.strictObject({ id: z.string(), part: z.number() }),
  responses: { 200: Thing },
  handle: async () => small,
});

const wrong = {
  // @ts-expect-error a field is missing
  readWithoutField: read({ ...looked, responses: { 200: Thing }, handle: async () => ({ name: 'a' }) }),
  // @ts-expect-error a field has another type
  readOfOtherType: read({ ...looked, responses: { 200: Thing }, handle: async () => ({ ...small, size: 'huge' }) }),
  readOfNothing: read({
    ...looked,
    responses: { 200: Thing },
    // @ts-expect-error the answer may be undefined
    handle: async () => [small].at(0),
  }),
  // @ts-expect-error the answer matches only the schema of an error
  readOfRefusal: read({ ...looked, responses: { 200: Thing, 400: z.object({}) }, handle: async () => ({}) }),

  // @ts-expect-error a field is missing
  commandWithoutField: command({ ...made, responses: { 201: Thing }, handle: async () => ({ id: null, answer: {} }) }),
  // @ts-expect-error no read operation shows the result, so the answer is required
  commandWithoutAnswer: command({ ...made, responses: { 201: Thing }, handle: async () => ({ id: 'a' }) }),
  commandOfNothing: command({
    ...made,
    responses: { 204: z.undefined() },
    // @ts-expect-error a 204 has no answer
    handle: async () => ({ id: 'a', answer: small }),
  }),
  // @ts-expect-error the id of the changed resource is missing
  commandOnNothing: command({ ...made, responses: { 204: z.undefined() }, handle: async () => ({}) }),
  commandWithTypo: command({
    ...made,
    responses: { 204: z.undefined() },
    // @ts-expect-error the member is unknown
    handle: async () => ({ id: 'a', owner: { organizationId: null, teamId: null } }),
  }),
  commandShownByOther: command({
    ...made,
    responses: { 201: z.object({ secret: z.string() }) },
    at: getThing,
    // @ts-expect-error the read operation shows another type, so the answer is required
    handle: async () => ({ id: 'a' }),
  }),
  commandAtWrongPlace: command({
    ...made,
    responses: { 201: Thing },
    at: getPart,
    handle: async () => ({ id: 'a', after: { part: 'one' } }),
    // @ts-expect-error the parameter is a number
    atParams: ({ id, after }) => ({ id, part: after.part }),
  }),
};

const right = {
  shown: command({ ...made, responses: { 201: Thing }, at: getThing, handle: async () => ({ id: 'a' }) }),
  answered: command({ ...made, responses: { 201: Thing }, handle: async () => ({ id: 'a', answer: small }) }),
  later: command({
    ...made,
    responses: { 201: Thing },
    handle: async () => ({ id: 'a', answer: Promise.resolve(small) }),
  }),
  placed: command({
    ...made,
    responses: { 201: Thing },
    at: getPart,
    handle: async () => ({ id: 'a', after: { part: 1 } }),
    atParams: ({ id, after }) => ({ id, part: after.part }),
  }),
};

it('an answer that does not match its schema does not compile', () => {
  expect([...Object.values(wrong), ...Object.values(right)].every(({ id }) => id.startsWith('things.'))).toBe(true);
});
