import { keepPrepared } from '#database/statements.ts';

// A process of tests runs the statements of the service and those of hundreds of test files.
keepPrepared(5_000);
