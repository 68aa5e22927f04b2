import { tryCommandFaults } from './fault-tests.ts';

tryCommandFaults({ part: 3, parts: 3 });
