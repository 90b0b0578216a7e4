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
