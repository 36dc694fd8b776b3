package picture

// Outline is a script for a browser. It returns an indented text that describes the visible
// elements of a page: classes, role, label, text, and the values of fields. It omits the text of
// <time> elements, which differs at each run.
const Outline = `(() => {
	const lines = [];
	const plain = (text) => text.replace(/\s+/g, " ").trim();
	const field = (e) => {
		if (e.tagName === "SELECT") return [e.selectedOptions[0]?.text ?? ""];
		if (e.type === "radio" || e.type === "checkbox") return [e.checked ? "chosen" : "not chosen"];
		return (e.value || e.placeholder).split("\n");
	};
	const show = (node, indent) => {
		if (node.nodeType === Node.TEXT_NODE) {
			if (plain(node.data)) lines.push(indent + plain(node.data));
			return;
		}
		if (node.nodeType !== Node.ELEMENT_NODE || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(node.tagName) || !node.checkVisibility()) return;
		let head = indent + "<" + [node.tagName.toLowerCase(), ...node.classList].join(".");
		for (const name of ["role", "type", "aria-label"]) {
			if (node.getAttribute(name)) head += " " + name + "=" + JSON.stringify(node.getAttribute(name));
		}
		head += ">";
		if (["INPUT", "SELECT", "TEXTAREA"].includes(node.tagName)) {
			lines.push(head, ...field(node).map((line) => (indent + "  | " + line).trimEnd()));
		} else if (node.tagName === "TIME") {
			lines.push(head);
		} else if (node.childElementCount === 0) {
			lines.push((head + " " + plain(node.textContent)).trimEnd());
		} else {
			lines.push(head);
			for (const child of node.childNodes) show(child, indent + "  ");
		}
	};
	show(document.body, "");
	return lines.join("\n") + "\n";
})()`
