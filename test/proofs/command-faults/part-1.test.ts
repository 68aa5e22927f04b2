import { tryCommandFaults } from './fault-tests.ts';

tryCommandFaults({ part: 1, parts: 3 });
