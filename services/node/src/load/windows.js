/** The windows of a measured phase: the only one, or that of each turn. */

import { print } from "../contract/lines.js";
import { cpuS, disturbance } from "../probes/host.js";
import { MEASURED, measured, NEVER, Phase, WARM_UP } from "./phase.js";

/**
 * @typedef {import("../contract/types.js").Trial} Trial
 * @typedef {import("./phase.js").Extent} Extent
 * @typedef {import("./words.js").Words} Words
 */

const ROWS_PER_S = 30_000; // more than a client of Node.js asks

const now = process.hrtime.bigint;

export class Windows {
  /**
   * @param {{
   *   trial: Trial, loops: import("./loops.js").Loops, recorder: import("./recorder.js").Recorder,
   *   openings: import("../transports/opening.js").Openings, firstSequence: number,
   * }} of
   */
  constructor({ trial, loops, recorder, openings, firstSequence }) {
    this.trial = trial;
    this.loops = loops;
    this.recorder = recorder;
    this.openings = openings;
    this.firstSequence = firstSequence;
    /** @type {bigint | null} of the first window */
    this.beginNs = null;
    this.cpuS = 0;
    this.worstLagMs = 0;
    this.warmed = 0; // requests in the warm-ups of turns
  }

  /**
   * Make the requests of a window, between two looks at this process's CPU time.
   * @param {Extent} extent
   * @param {(phase: Phase) => Promise<void>} play
   */
  async window(extent, play) {
    const { loops, recorder, openings } = this;
    openings.areNoted = true;
    const cpuBeforeS = cpuS();
    const phase = this.begin(MEASURED, extent);
    await play(phase);
    const cpu = cpuS() - cpuBeforeS;
    openings.areNoted = this.trial.connection === "reuse";
    this.firstSequence += phase.taken;
    this.beginNs ??= phase.beginNs;
    this.cpuS += cpu;
    this.worstLagMs = Math.max(this.worstLagMs, loops.worstLagMs);
    const lastNs = recorder.endWindow();
    const closesNs = this.trial.load.requests === null ? phase.endsNs : phase.beginNs;
    return { phase, endNs: lastNs > closesNs ? lastNs : closesNs, cpu };
  }

  /**
   * Make a turn for each line `turn`, until the line `end`; `word` is the first of these.
   * @param {import("./words.js").Word} word
   * @param {Words} words
   */
  async turns(word, words) {
    this.begin(MEASURED, measured(this.trial.load)); // without any turn nothing was measured
    for (let number = 0; word === "turn"; number++) {
      await this.turn(number);
      word = await words.next(true);
    }
  }

  /** @param {number} number */
  async turn(number) {
    const { trial, loops, recorder } = this;
    const { concurrency, duration_s: durationS, requests } = trial.load;
    const most = (trial.turn_warm_up ?? 0) * concurrency;
    const rowsOfSample = trial.calls > 1 ? 1 + trial.calls : 1;
    recorder.record.makeRoom(rowsOfSample * (most + (requests ?? Math.ceil((durationS ?? 0) * ROWS_PER_S))));
    const before = disturbance(); // before the warm-up: a look into files leaves caches cold
    const warmUp = this.begin(WARM_UP, { requests: most, leastNs: 0n, mostNs: NEVER, most });
    await loops.closedLoop(warmUp);
    this.firstSequence += warmUp.taken;
    this.warmed += warmUp.taken;
    const { phase, endNs, cpu } = await this.window(measured(trial.load), (window) => loops.closedLoop(window));
    const after = disturbance();
    print({
      type: "turn",
      number,
      requests: phase.taken,
      begin_ns: phase.beginNs,
      end_ns: endNs,
      cpu_s: cpu,
      waited_s: since(before.waitedS, after.waitedS),
      stolen_s: since(before.stolenS, after.stolenS),
    });
  }

  /**
   * @param {0 | 1} number
   * @param {Extent} extent
   */
  begin(number, extent) {
    const phase = new Phase({ number, beginNs: now(), firstSequence: this.firstSequence, extent });
    this.recorder.begin(phase);
    return phase;
  }
}

/**
 * A thread that has ended takes its share of a sum with it.
 * @param {number | null} before
 * @param {number | null} after
 */
function since(before, after) {
  return before === null || after === null ? null : Math.max(0, after - before);
}
