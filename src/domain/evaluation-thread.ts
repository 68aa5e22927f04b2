// A thread may not be able to read this code later (`shared/evaluation/program.ts`).
import '@viz-js/viz';
import { evaluationWork } from './evaluation-work.ts';
import { answerTasks } from './shared/evaluation/answer-tasks.ts';

/** The program of an evaluation thread. */
answerTasks(evaluationWork);
