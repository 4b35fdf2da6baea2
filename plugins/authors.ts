// The entry point `framework/kernel`, for authors of plugins.
export * from '../kernel/index.ts'
export { Command } from './command.ts'
export { kernelMembers, kernelOptions } from './kernel-options.ts'
export type { ApiDoc } from './openapi/index.ts'
export { answerWithin } from './toolkit/availability.ts'
export { builtPath } from './toolkit/built-paths.ts'
export { personalState, watchPersonal } from './toolkit/client-specific.ts'
export {
  type CommandArgument,
  type CommandArguments,
  type CommandDefinition,
  type CommandFlag,
  type CommandFlags,
  type CommandInput,
  type CommandShape,
  defineCommand,
} from './toolkit/command-definition.ts'
export {
  type AnyClass,
  type AnyMethod,
  type ClassMark,
  type Decorated,
  type DecoratedClass,
  type DecoratedMethod,
  DecoratorError,
  decoratedClasses,
  decoratedMethods,
  decorator,
  type MethodMark,
} from './toolkit/decorator/decorator.ts'
export { Notes } from './toolkit/decorator/notes.ts'
export {
  guardedClasses,
  noteGuarded,
  type RouteContribution,
  routeContributions,
  routeDecorator,
} from './toolkit/decorator/route-decorator.ts'
export type { DoctorCheck, DoctorFinding, DoctorInput, DoctorLevel } from './toolkit/doctor/check.ts'
export { type ExposeErrorDetails, exposesDetails, type FailureBody, setExposure } from './toolkit/failures/failures.ts'
export { HttpError, type HttpErrorDetails, type HttpErrorOptions } from './toolkit/failures/http-error.ts'
export type { Figure, FigureSample, FigureSource } from './toolkit/figures.ts'
export { type FileLoading, type FoundFiles, findFiles, importFiles } from './toolkit/files.ts'
export { applicationLogger, lineLogger } from './toolkit/logger.ts'
export { type InsideFile, openInside, realRoot } from './toolkit/open-inside.ts'
export { type AnyCheck, type Check, type Need, option, type SettingsOf, sizeOption } from './toolkit/options/index.ts'
export type { InspectorPanel, PanelAction, PanelCell, PanelRow, PanelServices } from './toolkit/panels.ts'
export { peer, peers } from './toolkit/peer.ts'
export { readRegularFile, readRegularFileSync } from './toolkit/read-file.ts'
export { RouteValue } from './toolkit/route-value.ts'
export {
  type WorkAttributes,
  type WorkDuration,
  type WorkFollower,
  type WorkKind,
  type WorkLabel,
  type WorkList,
  type WorkMeasure,
  workKind,
} from './toolkit/work/kind.ts'
export { answerAsLeader, askLeader, refuseSeveral } from './toolkit/workers/several.ts'
export { isLeading } from './toolkit/workers/supervisor.ts'
export { webRequest } from './web-request.ts'
