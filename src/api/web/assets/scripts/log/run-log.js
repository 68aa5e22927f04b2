// The log of a run, as a window over all of its lines: <run-log>. Without this script the page shows a thousand lines at a time.
import { LogView } from './run-log-view.js';

class RunLog extends HTMLElement {
  connectedCallback() {
    new LogView(this).begin();
  }
}

customElements.define('run-log', RunLog);
