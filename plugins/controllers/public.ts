// The names that `framework` has as well.
import type { ControllerFiles } from './loader.ts'

export { controller } from './controller.ts'
export { middleware } from './middleware.ts'
export type { ControllerClass } from './mount.ts'
export type { ControllersOptions } from './options.ts'
export { type SerializeOptions, serialize } from './serialize.ts'
export { type CustomError, type Validate, type ValidateOptions, type ValidateSchemas, validate } from './validate.ts'
export { type ControllerMethod, del, get, patch, post, put, type VerbDecorator } from './verbs.ts'

// Augments the file that declares the interface: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Loads controller files, as the server option `controllerPatterns` does at boot. */
    controllers: ControllerFiles
  }
}
