# %% a shell keeps variables, functions and the folder
#| language: bash
#| stdout: 5 /mnt/data/deep hello
x=5; f() { echo hello; }; mkdir -p deep; cd deep
#| next
echo "$x $PWD $(f)"; cd ..

# %% a shell's pipeline over files
#| language: bash
#| stdout: 2 b
#| file: words.txt
printf 'a\nb\nb\n' > words.txt
sort words.txt | uniq -c | sort -rn | head -1 | awk '{print $1, $2}'

# %% JavaScript keeps variables and shows the last value
#| image: standard
#| language: javascript
#| result: [ 2, 4 ]
const numbers = [1, 2]; const double = (n) => n * 2
#| next
numbers.map(double)

# %% JavaScript awaits, imports and writes files
#| image: standard
#| language: javascript
#| stdout: read 5
#| file: note.txt
import { readFile, writeFile } from 'node:fs/promises'
await writeFile('/mnt/data/note.txt', 'hello')
console.log('read', (await readFile('/mnt/data/note.txt', 'utf8')).length)

# %% TypeScript with interfaces and enums
#| image: standard
#| language: typescript
#| stdout: Ada 1
interface Person { name: string; level: Level }
enum Level { low, high }
const ada: Person = { name: 'Ada', level: Level.high }
console.log(ada.name, ada.level)

# %% JavaScript errors are shown
#| image: standard
#| language: javascript
#| error: TypeError
#| hint: undefined
const nothing = undefined
nothing.length

# %% process.exit ends a JavaScript session at once
#| image: standard
#| language: javascript
#| error: SessionEnded
#| hint: ended with code 3
console.log("done")
process.exit(3)

# %% exit 0 of a shell succeeds and names the lost variables
#| language: bash
#| stdout: start
#| stderr: The bash session ended with code 0; its variables are lost.
echo start; exit 0

# %% messages of a shell count the lines of the cell
#| language: bash
#| error: ExitStatus
#| stderr: bash: line 2: cd: /nope
echo one
cd /nope

# %% process.exit(0) succeeds and names the lost variables
#| image: standard
#| language: javascript
#| stdout: start
#| stderr: The javascript session ended with code 0; its variables are lost.
console.log("start")
process.exit(0)

# %% JavaScript cells have module, __dirname and exports
#| image: standard
#| language: javascript
#| stdout: /mnt/data main { a: 1 } 2
export const two = 2
export default function named() { return two }
module.exports = { a: 1 }
console.log(__dirname, require.main === module ? "main" : "other", module.exports, named())

# %% a failed fetch of JavaScript names the reason
#| image: standard
#| language: javascript
#| stdout: fetch failed. This sandbox has no network
#| error: TypeError
#| hint: This sandbox has no network
try { await fetch("http://example.com") } catch (error) { console.log(error.message) }
await fetch("http://example.com")

# %% a missing package of npm is explained
#| image: standard
#| language: javascript
#| error: Error
#| hint: `express` is not installed and this sandbox has no network
require("express")

# %% TypeScript cells may export
#| image: standard
#| language: typescript
#| stdout: 3 1
export const z: number = 3
export enum Level { low, high }
export interface Point { x: number }
export type { Point as Place }
console.log(z, Level.high)

# %% JavaScript writes a module whose text looks like a cell
#| image: standard
#| language: javascript
#| stdout: 4 import('x')
const fs = require('fs')
fs.writeFileSync('limits.mjs', `
import path from 'path'
const limit = 3
export const next = limit + path.sep.length
`)
const { next } = await import('./limits.mjs')
console.log(next, "import('x')")

# %% JavaScript imports that are indented, and two on a line
#| image: standard
#| language: javascript
#| stdout: / 2
  import path from 'path'; import { EOL } from 'os'
  console.log(path.sep, EOL.length + 1)

# %% JavaScript callbacks, timers and an async main end with their cell
#| image: standard
#| language: javascript
#| stdout: read hello
#| stdout: timer
#| stdout: child done
#| stdout: main done
const { readFile, writeFileSync } = require('fs'), { exec } = require('child_process')
writeFileSync('note.txt', 'hello')
readFile('note.txt', 'utf8', (_error, text) => console.log('read', text))
setTimeout(() => console.log('timer'), 300)
exec('sleep 0.2; echo done', (_error, out) => console.log('child', out.trim()))
async function main() { await new Promise((go) => setTimeout(go, 100)); console.log('main done') }
main()

# %% late output of JavaScript is not shown by the next cell
#| image: standard
#| language: javascript
#| not-stdout: late
#| stdout: next
setTimeout(() => console.log('late'), 200)
#| next
console.log('next')

# %% a JavaScript server stays while later cells call it
#| image: standard
#| language: javascript
#| stdout: hello 200
const http = require('http')
http.createServer((_request, answer) => answer.end('hello')).listen(3000)
#| next
const answer = await fetch('http://localhost:3000')
console.log(await answer.text(), answer.status)

# %% an error in a JavaScript callback fails its cell
#| image: standard
#| language: javascript
#| error: RangeError
#| hint: late
setTimeout(() => { throw new RangeError('late') }, 10)

# %% TypeScript keeps the text of templates
#| image: standard
#| language: typescript
#| stdout: const x: number
const code: string = `
const x: number = 1
export default x`
console.log(code.trim())
