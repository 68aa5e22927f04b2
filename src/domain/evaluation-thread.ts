import { evaluationWork } from './evaluation-work.ts';
import { answerTasks } from './shared/evaluation/answer-tasks.ts';

/** The program of an evaluation thread. */
answerTasks(evaluationWork);
