import { option, type SettingsOf } from '../toolkit/options/index.ts'

/** Options of the JSON body parser. */
export interface JsonOptions {
  /** The largest body: bytes, or a size like `'100kb'`. Default `'100kb'`; more is 413. */
  sizeLimit?: number | string
  /** How deep arrays and objects may nest. Default 64; deeper is 400. */
  maxDepth?: number
}

export const jsonOptions = option
  .shape({ sizeLimit: option.size().default('100kb'), maxDepth: option.int({ min: 1, max: 1000 }).default(64) })
  .typed<JsonOptions>()

export type JsonSettings = SettingsOf<typeof jsonOptions>

/** For one route; `false`: its body is left unread. */
export const jsonOfRoute = option.overrides(jsonOptions)
