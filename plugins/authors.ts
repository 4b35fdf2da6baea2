// The entry point `framework/kernel`, for authors of plugins.
export * from '../kernel/index.ts'
export { Command } from './command.ts'
export { kernelMembers, kernelOptions } from './kernel-options.ts'
export type { ApiDoc } from './openapi/index.ts'
export * from './shared/decorators/decorator.ts'
export { Notes } from './shared/decorators/notes.ts'
export * from './shared/decorators/route-decorator.ts'
export type {
  AccessConditions,
  AccessDemands,
  AccessWay,
  GuardedWay,
  PluginAccess,
} from './shared/development/access.ts'
export * from './shared/development/command-definition.ts'
export type { Figure, FigureSample, FigureSource } from './shared/development/metrics.ts'
export type { InspectorPanel, PanelAction, PanelCell, PanelRow, PanelServices } from './shared/development/panels.ts'
export type { DoctorCheck, DoctorFinding, DoctorInput, DoctorLevel } from './shared/doctor/check.ts'
export { peer, peers } from './shared/environment/optional-package.ts'
export { answerAsLeader, askLeader, refuseSeveral } from './shared/environment/several-workers.ts'
export { isLeading } from './shared/environment/supervisor.ts'
export {
  type ExposeErrorDetails,
  exposesDetails,
  type FailureBody,
  setExposure,
} from './shared/failures/formatted-failures.ts'
export { HttpError, type HttpErrorDetails, type HttpErrorOptions } from './shared/failures/http-error.ts'
export { announceMembers, type MemberOwners, missingMember } from './shared/failures/missing-members.ts'
export { builtPath } from './shared/files/built-paths.ts'
export { type FileLoading, type FoundFiles, findFiles, importFiles } from './shared/files/modules.ts'
export { type InsideFile, openInside, realRoot } from './shared/files/open-inside.ts'
export { readRegularFile, readRegularFileSync } from './shared/files/read-file.ts'
export {
  kindOf,
  openRegularFile,
  type RegularFile,
  readPart,
  regularFile,
  smallPart,
} from './shared/files/regular-file.ts'
export { personalState, watchPersonal } from './shared/http/client-specific.ts'
export { connectionHeaders } from './shared/http/connection-headers.ts'
export { mediaType, mediaTypeOfFile } from './shared/http/media-types.ts'
export { networkOf } from './shared/http/network.ts'
export { parseQuery } from './shared/http/query.ts'
export { RouteValue } from './shared/http/route-value.ts'
export { applicationLogger, lineLogger } from './shared/logging/logger.ts'
export { type AnyCheck, type Check, type Need, option, type SettingsOf, sizeOption } from './shared/options/index.ts'
export { answerWithin } from './shared/stores/availability.ts'
export { announceBackend, type Backend, type BackendOptions } from './shared/stores/backends.ts'
export {
  type PanelRowAction,
  type WorkAttributes,
  type WorkDuration,
  type WorkFollower,
  type WorkKind,
  type WorkLabel,
  type WorkList,
  type WorkMeasure,
  workKind,
} from './shared/work/kind.ts'
export { type WrapWork, wrapWork } from './shared/work/wrap-work.ts'
export { webRequest } from './web-request.ts'
