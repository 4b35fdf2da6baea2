// The same with four times as many sets of routes.
import './oracle.test.ts'
