/** What the areas declare for the tests that send every operation and look at every page. An area has its line here (`declaration.ts` says what it may export). */
export * as schedules from '#test/api/schedules/declarations.ts';
export * as variableSets from '#test/api/variable-sets/declarations.ts';
export * as webhooks from '#test/api/webhooks/declarations.ts';
