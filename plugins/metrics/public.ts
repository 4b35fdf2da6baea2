// The names that `framework` has as well.
import type { Metrics } from './service.ts'

export type { Counter, Gauge, Histogram, HistogramOptions, MetricOptions } from './instruments.ts'
export type { MetricsOptions } from './options.ts'
export type { Metrics } from './service.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Creates counters, gauges and histograms, with the plugin `metrics`. */
    metrics: Metrics
  }
}
