import { tryCommandFaults } from './fault-tests.ts';

tryCommandFaults({ part: 2, parts: 3 });
